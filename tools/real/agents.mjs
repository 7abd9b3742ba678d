// The README's refund by a tool of the AI SDK, of OpenAI Agents JS and of LangGraph JS, under `standard`: it is paid once, and
// the model is told so.
import { Dispatcher } from "playproof";
import assert from "node:assert/strict";
import { tool as agentsTool, RunContext } from "@openai/agents";
import { AIMessage } from "@langchain/core/messages";
import { tool as chainTool } from "@langchain/core/tools";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const program = process.env.PLAYPROOF_BIN;
await withDispatcher(async (d) => {
  let paid = 0;
  const pay = async () => { paid += 1; throw new DOMException("no answer", "TimeoutError"); };
  const refund = async (args, options) => {
    const outcome = await d.call("payments.issue_refund", args, pay, options);
    return outcome.ok ? outcome.value : outcome.message("openai").content;
  };
  const parameters = z.object({ order: z.string() });
  const isTold = (what, said) => {
    assert.match(said, /Do not make the same call again/, `${what}: ${said}`);
    assert.equal(paid, 1, what);
    paid = 0;
    console.log(`${what}: paid once, and told ${said.slice(0, 120)}`);
  };

  let turn = 0;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => (turn++ === 0
      ? { content: [{ type: "tool-call", toolCallId: "t1", toolName: "refund", input: '{"order":"o_91"}' }], finishReason: { unified: "tool-calls" }, usage, warnings: [] }
      : { content: [{ type: "text", text: JSON.stringify(prompt.at(-1).content[0].output) }], finishReason: { unified: "stop" }, usage, warnings: [] }),
  });
  const ofAi = tool({ description: "refunds", inputSchema: parameters, execute: (args, { toolCallId, abortSignal }) => refund(args, { run: "r1", id: toolCallId, signal: abortSignal }) });
  isTold("AI SDK", (await generateText({ model, tools: { refund: ofAi }, prompt: "refund", stopWhen: stepCountIs(3) })).text);

  const ofAgents = agentsTool({ name: "refund", description: "refunds", parameters, errorFunction: null, execute: (args, context, details) => refund(args, { run: "r2", id: details?.toolCall?.callId }) });
  isTold("OpenAI Agents", await ofAgents.invoke(new RunContext({}), '{"order":"o_92"}'));

  const ofChain = chainTool((args, config) => refund(args, { run: config.configurable?.thread_id, id: config.toolCall?.id, signal: config.signal }), { name: "refund", description: "refunds", schema: parameters });
  const call = new AIMessage({ content: "", tool_calls: [{ name: "refund", args: { order: "o_93" }, id: "t3", type: "tool_call" }] });
  isTold("LangGraph", (await new ToolNode([ofChain]).invoke({ messages: [call] }, { configurable: { thread_id: "r3" } })).messages[0].content);
});

async function withDispatcher(work) {
  const d = new Dispatcher({ playbook: "standard", unlocked: true, program });
  try { await work(d); } finally { await d.close(); }
}
