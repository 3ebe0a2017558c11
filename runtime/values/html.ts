/**
 * Renders pages for people who follow a link: plain HTML without scripts, and nothing from other hosts. On a phone all
 * text is at least 16 px (iOS zooms into fields with smaller text), and buttons and fields are at least 44 px high.
 */

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:clamp(1.5rem,6vh,6rem) 1rem 3rem;' +
  'color:#1f2937;background:#fff;overflow-wrap:anywhere}h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}h2{font-size:1.1rem;margin-top:2rem}' +
  'label,input,select,textarea,button{display:block;font:inherit;max-width:100%}label{margin:1rem 0 .3rem}label>input,label>select,label>textarea{margin-top:.3rem}' +
  'button,summary,input,select,textarea{box-sizing:border-box;min-height:2.75rem}' +
  'input:not([type=radio],[type=checkbox]),select,textarea{width:100%;padding:.55rem;' +
  'color:inherit;background:#fff;border:1px solid #6b7280;border-radius:.4rem}[type=radio],[type=checkbox]{flex:none;width:1.5rem;height:1.5rem;min-height:0;margin:0}' +
  'label.choice{display:flex;gap:.6rem;align-items:flex-start;min-height:2.75rem;box-sizing:border-box;margin:0;padding:.6rem 0}' +
  '::file-selector-button{font:inherit}.wrong{margin:.2rem 0 0;color:#b91c1c}.above{margin:0 0 1rem;padding:.6rem .8rem;border:1px solid;border-radius:.4rem}:is(input,select,textarea,div)[aria-invalid]{border:2px solid #b91c1c;border-radius:.4rem}.note{margin:.2rem 0 0;color:#4b5563}' +
  'a{color:#1d4ed8}a.alone{display:inline-block;padding:.65rem 0}code{font-size:1rem}' +
  'button{margin-top:1.2rem;padding:.65rem 1.4rem;border:0;border-radius:.4rem;background:#1d4ed8;color:#fff;' +
  'font-weight:600;cursor:pointer}:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}' +
  '@media(max-width:30rem){button{width:100%}}'

/**
 * Builds the answer with a page. `body`: HTML whose texts are escaped already. `moreStyle`: additional CSS.
 * `formTarget`: the origin that a submitted form redirects to, if that is another site. `lang`: the language of the
 * texts.
 */
export const answerHtml = (
  title: string,
  body: string,
  status = 200,
  {
    moreStyle = '',
    formTarget = '',
    lang = 'en',
  }: { moreStyle?: string; formTarget?: string; lang?: string } = {},
): Response =>
  new Response(
    `<!doctype html><html lang="${escapeHtml(lang)}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
      '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">' +
      `<style>${style}${moreStyle}</style></head><body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`,
    {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${formTarget}; frame-ancestors 'none'; base-uri 'none'`,
      },
    },
  )
