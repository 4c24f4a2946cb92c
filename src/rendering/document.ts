// The HTML document around an e-mail body: one column, system fonts, no images and nothing remote. Mail clients drop much of a
// style sheet, so important styles are inline; the sheet only adds dark mode and small screens.

export type Frame = {
  /** Language of the document: English unless the template says otherwise. */
  lang?: string
  isRightToLeft?: boolean
  /** For a preview: as a mail client shows it that is set to light or dark. Without it the client decides. */
  scheme?: 'light' | 'dark'
}

/** The fixed text before, between and after the three variable parts: title, preheader, body. */
export function documentAround(frame: Frame): readonly [string, string, string, string] {
  const lang = (frame.lang ?? 'en').replace(/[^A-Za-z0-9-]/g, '') || 'en'
  const dir = frame.isRightToLeft ? 'rtl' : 'ltr'
  const align = frame.isRightToLeft ? 'right' : 'left'
  const scheme = frame.scheme ?? 'light dark'
  const dark = frame.scheme ? (frame.scheme === 'dark' ? 'all' : 'not all') : '(prefers-color-scheme: dark)'
  return [
    `<!DOCTYPE html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${scheme}">
<meta name="supported-color-schemes" content="${scheme}">
<meta name="format-detection" content="telephone=no, date=no, address=no">
<title>`,
    `</title>
<style>
:root { color-scheme: ${scheme}; supported-color-schemes: ${scheme}; }
a { color: #0a4f9e; }
@media ${dark} {
.page { background-color: #15181c !important; }
.card { background-color: #1f2329 !important; color: #e8eaed !important; }
.card a { color: #9cc4ff !important; }
.card .line { border-color: #5b626c !important; }
}
@media (max-width: 640px) {
.card { padding: 20px !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f2f4f6">
<div style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px" aria-hidden="true">`,
    `…</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td align="center" style="padding:20px 10px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px">
<tr><td class="card" lang="${lang}" dir="${dir}" align="${align}" style="padding:32px;background-color:#ffffff;color:#1b1f24;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:17px;line-height:1.5;overflow-wrap:break-word">
`,
    `
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`,
  ]
}
