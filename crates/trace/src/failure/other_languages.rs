//! The words of a failure in other languages than English, in the first clause of a short message.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use super::tool_name::Tools;

/// Words of failures, by language: what the call named or may not do, and then what a tool that does something could not do.
pub(super) const CUES: [(Tools, &str); 28] = [
    // Chinese, and what Japanese writes alike
    (
        Tools::Given,
        r"^(无法|無法|未找到|找不到|没有找到|沒有找到|未能|未知|缺少|不允许|不允許|无效的|無效的|非法的|请提供|請提供)|(不存在|未打开|不支持|不支援|不能为空|不能為空|未找到|未登录|未登入|无权限|無權限|权限不足|權限不足|没有权限|沒有權限|不合法|必须(传|提供|指定|填)|需要提供)|(参数|參數|格式)(错误|錯誤|无效|無效|缺失|不正确|不正確)|(获取|取得|查询|查詢|读取|讀取|搜索|搜尋|加载|載入|解析|提取|连接|連接|请求|請求|调用|執行|执行)[^,，。]{0,30}(失败|失敗|出错|出錯)$|^[^，,：:]{0,12}(请求|連接|连接|操作|执行|調用|调用)?(超时|逾時)$",
    ),
    (
        Tools::Doing,
        r"(不能|不足|无法|無法|必须|必須|被拒绝|被拒絕)|(失败|失敗|出错|出錯)(了|しました)?([,，:：]|$)|^没有(打开|找到|选中)",
    ),
    (Tools::Doing, r"未(创建|創建|发送|發送|提交|保存|执行|執行)"),
    // Japanese
    (
        Tools::Given,
        r"(見つかりません|見つかりませんでした|存在しません|できません|無効(です|な)|不正(です|な)|必須です|エラーが発生|権限がありません|(を|は)(指定|入力)してください$|タイムアウトしました|(取得|読み込み|読込|検索|接続)に失敗)",
    ),
    (Tools::Doing, r"(作成|送信|保存|登録|更新|削除|処理)(され|でき)(ませんでした|ていません|ません)"),
    // Korean
    (
        Tools::Given,
        r"(찾을 수 없|존재하지 않|할 수 없|나눌 수 없|야 합니다|유효하지 않|지원하지 않|오류가 발생|에러가 발생|권한이 없|필수 ?(입니다|항목)|(불러|가져)오(지 못|는 데 실패)|시간이? ?초과)",
    ),
    (Tools::Doing, r"실패(했|하였|$)|(될|갈|낼) 수 없|(생성|전송|저장|등록|처리)되지 않"),
    // Vietnamese
    (
        Tools::Given,
        r"(^|[ ,])không (có quyền|hợp lệ|thể|tìm thấy|tồn tại|được hỗ trợ)|đã xảy ra lỗi|^lỗi khi |thất bại$",
    ),
    (Tools::Doing, r"^không có |thất bại"),
    // Russian and Ukrainian
    (
        Tools::Given,
        r"(^|[ ,])(не (найден|удалось|удаётся|удается|существует|поддерживается|знайдено|вдалося|існує)|нет (доступа|прав)|произошла ошибка|ошибка (при|во время|доступа|сервера|подключения|запроса)|доступ запрещ|(недопустим|неверн|некорректн)(ый|ая|ое|ые))",
    ),
    (
        Tools::Doing,
        r"(^|[ ,])не (создан|отправлен|сохранен|сохранён|выполнен|проведен|проведён)(а|о|ы)?( |$)|^превышено время",
    ),
    // Spanish and Portuguese
    (
        Tools::Given,
        r"\bno (se (encontr[óo](\W|$)|pud|puede|ha )|existe\b|encontrad[oa](\W|$)|tienes permiso|fue posible|es posible|est[áa] (autorizad|configurad|disponible|permitid))|\bn[ãa]o (encontrad[oa]|existe\b|foi poss|é (uma?|possível|permitid)|pode\b|autorizad|est[áa] (autorizad|configurad|dispon))",
    ),
    (
        Tools::Given,
        r"^(ha ocurrido|ocurrió|se produjo|ocorreu|houve) un?m? err|^erro?r? (al|ao|interno|inesperado|durante|en la|na) |^(falha (ao|na|no)|fallo al) |\b(acceso denegado|acesso negado|tiempo de espera agotado|tempo esgotado)\b|(^| )(es|está|é) (inválid|obligatori|obrigatóri|requerid|expirad|caducad)[oa]s?\b|^(\S+ ){1,3}(inválid|no válid)[oa]s?\b",
    ),
    (
        Tools::Doing,
        r"^(\S+ ){1,4}(falló|falhou)( |$)|\b(no|não) (fue|ha sido|foi) (cobrad|cread|criad|enviad|guardad|pagad|procesad|processad|publicad|realizad|registrad|salv)[oa]\b",
    ),
    // French
    (
        Tools::Given,
        r"\b(introuvable|n'existe pas|impossible d|n'a pas pu|n'ont pas pu)|\bn'est pas (autoris|configur|disponible|valide|connect|pris)|\b(est|sont) (invalide|obligatoire|manquant|requis|expir)|^(une )?erreur (est survenue|s'est produite|lors|interne|inattendue)|^(accès|permission) (refusé|interdit)|^(échec (de|du|lors)\b|délai (d'attente )?dépassé)",
    ),
    (Tools::Doing, r"\bn'(a|ont) pas été \w|\b(a|ont) échoué( |$)"),
    // German
    (
        Tools::Given,
        r"\bnicht (gefunden|möglich|erlaubt|vorhanden|unterstützt|verfügbar|berechtigt|angemeldet)\b|\bexistiert nicht\b|\b(konnten?|kann|darf) [^\n]{0,80}\bnicht\b|\bkonnten? nicht\b|\b(ist|sind) (ungültig|erforderlich|fehlgeschlagen|abgelaufen)\b|^(ungültige|unbekannte)[rsnm]? \w|^(es ist )?(ein )?(interner |unerwarteter )?fehler (ist |beim |aufgetreten|während )|^(zugriff verweigert|keine berechtigung|zeitüberschreitung)\b",
    ),
    (Tools::Doing, r"\bfehlgeschlagen\b|\bwurden? (nicht (an|ge|er|über|ver|aus|ein|ab)\w+)\b|^kein zugriff\b"),
    // Italian
    (
        Tools::Given,
        r"\bnon (trovat[oa]|esiste|valid[oa]|autorizzat[oa]|disponibil[ei]|è (stato )?possibile)\b|^impossibile \w|^(si è verificato un )?errore (durante|interno|nel|di )|^accesso negato\b",
    ),
    (Tools::Doing, r"\bnon (è|sono) stat[oaie] \w+[tao]\b"),
    // Dutch, and the languages of the north
    (
        Tools::Given,
        r"\bniet (gevonden|mogelijk|toegestaan|beschikbaar|ondersteund)\b|\bbestaat niet\b|\bkon(den)? niet\b|^ongeldige? \w|\b(hittades inte|kunde inte|finns inte|ikke (funnet|fundet)|kunne ikke|finnes ikke|findes ikke)\b",
    ),
    (Tools::Doing, r"\bmislukt\b"),
    // Polish and Czech
    (
        Tools::Given,
        r"\bnie (znaleziono|można|istnieje|udało się|powiodło się)|^(wystąpił błąd|błąd (podczas|serwera)|brak (dostępu|uprawnień)|nieprawidłow)|\bnepodařil[oay]? se\b|\bneby(l|la|lo|ly) nalezen|\bneexistuje\b|^(nepodporovan|neplatn|chyba při |obecná chyba|nelze )",
    ),
    // Turkish
    (
        Tools::Given,
        r"\b(bulunamadı|mevcut değil|hata oluştu|desteklenmiyor|yetkiniz yok)|^geçersiz \w|(^|\s)(başarısız oldu|zaman aşımı)",
    ),
    (Tools::Doing, r"\S{3,}(ilemedi|ılamadı|ulamadı|ülemedi)( |$)"),
    // Indonesian and Malay
    (
        Tools::Given,
        r"\btidak (ditemukan|ada izin|dapat|diizinkan|dijumpai|tersedia|valid)\b|^gagal \w|^terjadi kesalahan\b",
    ),
    // Arabic, Hebrew, Persian
    (
        Tools::Given,
        r"^(فشل|تعذر|خطأ في|حدث خطأ)|غير (موجود|صالح|متاح|مصرح)|لم يتم العثور|لا يمكن|לא (נמצא|ניתן|קיים)|^(שגיאה|נכשל)|یافت نشد|نامعتبر",
    ),
    // Hindi, Thai
    (Tools::Given, r"नहीं (मिला|मिली|मिले|किया जा सक)|त्रुटि हुई|अमान्य|विफल|^ไม่(พบ|สามารถ)|เกิดข้อผิดพลาด|ล้มเหลว|ไม่ถูกต้อง"),
];

/// Whether a line says that no answer came in time.
pub(super) fn tells_a_timeout(line: &str) -> bool {
    static TIMEOUT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)超时$|超时[，,。：: ]|逾時|タイムアウト|시간이? ?초과|zeitüberschreitung|zeitlimit überschritten|tiempo (de espera|límite) (agotado|excedido|superado)|tempo (limite |de espera )?(esgotado|excedido)|délai (d['’]attente )?(est )?dépassé|tempo scaduto|zaman aşımı|время ожидания (истекло|превышено)|превышено время ожидания|тайм-?аут|przekroczono (limit czasu|czas)|tijdslimiet overschreden|waktu habis",
        )
    });
    patterns::matches(&TIMEOUT, line)
}

/// Whether a clause tells of something that was done, or how something is done. What is not done `successfully` is not.
pub(super) fn tells_a_deed(clause: &str) -> bool {
    static DONE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)如何|怎么办|怎样|已(保存|创建|創建|建立|发送|發送|更新|删除|刪除|完成|提交|添加|新增)[^,，。]{0,12}[,，]?但|^[^不未没沒无無]{0,12}成功|しましたが|^[^불]{0,20}(저장|생성|전송|삭제)(했|되었)|^[^불]{0,12}(완료|성공)",
        )
    });
    static WELL: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)успешно|correctamente|con éxito|com sucesso|avec succès|erfolgreich|gespeichert,|con successo|pomyślnie|úspěšně|başarıyla|berhasil|(^|[^g] )thành công|بنجاح|सफलतापूर्वक|สำเร็จ",
        )
    });
    static DENIED: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?i)(^|[ ,])(no|n[ãa]o|не|nicht|pas|non|nie|ne|tidak|không|gagal|nessun)( |$)|değil|لم|नहीं|ไม่")
    });
    patterns::matches(&DONE, clause)
        || patterns::matches(&WELL, clause) && !patterns::matches(&DENIED, first_part(clause))
}

/// What stands before the first comma or colon of a clause.
pub(super) fn first_part(clause: &str) -> &str {
    clause.split([',', '，', '、', ';', ':', '：']).next().unwrap_or(clause)
}

#[cfg(test)]
mod tests {
    use super::super::clause::says;

    #[test]
    fn a_short_message_tells_of_a_failure_in_the_language_of_its_tool() {
        for (tool, text) in [
            ("get_shelf", "该货架不存在"),
            ("get_shelf", "查询货架失败"),
            ("get_shelf", "缺少必填参数：row"),
            ("load_shelf", "操作失败，请稍后重试"),
            ("load_shelf", "无法成功移动货架"),
            ("load_shelf", "No se pudo mover correctamente el estante"),
            ("get_shelf", "货架不存在: 17"),
            ("take", "余额不足"),
            ("get_shelf", "棚が見つかりませんでした。"),
            ("load_shelf", "棚の移動に失敗しました。"),
            ("get_shelf", "선반을 찾을 수 없습니다."),
            ("load_shelf", "선반 이동에 실패했습니다."),
            ("get_shelf", "Không tìm thấy kệ 17."),
            ("create_shelf", "货架未创建"),
            ("create_shelf", "棚は作成されませんでした"),
            ("create_shelf", "선반이 생성되지 않았습니다"),
            ("create_shelf", "El estante no fue creado"),
            ("create_shelf", "Le rangement n'a pas été créé"),
            ("create_shelf", "Le rangement a échoué : il est plein"),
            ("create_shelf", "Das Regal wurde nicht angelegt"),
            ("create_shelf", "Lo scaffale non è stato creato"),
            ("create_shelf", "Plaatsing mislukt"),
            ("create_shelf", "Полка не создана"),
            ("create_shelf", "Raf oluşturulamadı"),
            ("get_shelf", "Raf bulunamadı"),
            ("load_shelf", "Chuyển kệ 17 thất bại vì kệ đầy"),
            ("get_shelf", "Полка 17 не найдена"),
            ("get_shelf", "No se encontró el estante 17"),
            ("get_shelf", "Não foi possível abrir a estante."),
            ("get_shelf", "Ocorreu um erro ao abrir a estante."),
            ("get_shelf", "Código inválido"),
            ("get_shelf", "A chave é inválida"),
            ("load_shelf", "La carga falló"),
            ("get_shelf", "L'étagère 17 est introuvable."),
            ("get_shelf", "Une erreur est survenue."),
            ("get_shelf", "Das Regal wurde nicht gefunden"),
            ("get_shelf", "Es ist ein Fehler aufgetreten."),
            ("load_shelf", "Umzug von Regal 17 fehlgeschlagen"),
            ("get_shelf", "Scaffale 17 non trovato"),
            ("get_shelf", "Plank 17 niet gevonden"),
            ("get_shelf", "Nie znaleziono regału 17"),
            ("get_shelf", "Raf 17 bulunamadı"),
            ("get_shelf", "Rak 17 tidak ditemukan"),
            ("get_shelf", "لم يتم العثور على الرف 17"),
            ("get_shelf", "शेल्फ 17 नहीं मिला"),
        ] {
            assert!(says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn answers_in_other_languages_are_no_failures() {
        for (tool, text) in [
            ("load_shelf", "货架已更新，但无法显示照片"),
            ("load_shelf", "操作成功"),
            ("retry_jobs", "失败任务已重新排队"),
            ("create_ticket", "Ticket 12 angelegt: Login fehlgeschlagen"),
            ("book_shelf", "Dipesan, tidak dapat dibatalkan"),
            ("set_timeout", "超时时间：30秒"),
            ("play_move", "Échec et mat"),
            ("load_shelf", "棚を移動しましたが、写真は表示できません"),
            ("load_shelf", "Regal erfolgreich gespeichert, Foto nicht verfügbar"),
            ("load_shelf", "Estante guardado con éxito; la foto no existe"),
            ("search_shelves", "找不到符合条件的货架"),
            ("check_shelf", "Das Regal ist nicht vorhanden"),
            ("get_order_status", "支付失败"),
            ("read_file", "# 货架\n\n该货架不存在"),
            ("get_faq", "Das Regal kann nicht im Freien stehen."),
        ] {
            assert!(!says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn a_timeout_is_one_in_any_language() {
        for text in [
            "Zeitüberschreitung beim Laden",
            "请求超时",
            "Tiempo de espera agotado",
            "Délai d'attente dépassé",
            "Tempo esgotado",
            "요청 시간 초과",
        ] {
            assert!(super::tells_a_timeout(text), "{text}");
        }
        for text in ["Das Regal wurde nicht gefunden", "超时时间", "El tiempo es bueno", "Le délai est de 3 jours"]
        {
            assert!(!super::tells_a_timeout(text), "{text}");
        }
    }
}
