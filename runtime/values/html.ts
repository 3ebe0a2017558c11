/** Pages for people who follow a link: plain HTML, no scripts, nothing from elsewhere. */

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color:#1f2937}' +
  'h1{font-size:1.4rem}label,input,select,button{display:block;font:inherit}label{margin:1rem 0 .3rem}' +
  'input,select{width:100%;box-sizing:border-box;padding:.5rem;border:1px solid #9ca3af;border-radius:.3rem}' +
  'button{margin-top:1rem;padding:.6rem 1.2rem;border:0;border-radius:.3rem;background:#1d4ed8;color:#fff}'

/**
 * An answer with a page; `body` is HTML, its texts escaped already. `moreStyle`: CSS of its own. `formTarget`: the
 * origin that a form's answer leads on to, where that is another site.
 */
export const htmlAnswer = (
  title: string,
  body: string,
  status = 200,
  { moreStyle = '', formTarget = '' }: { moreStyle?: string; formTarget?: string } = {},
): Response =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>` +
      '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">' +
      `<style>${style}${moreStyle}</style></head><body><h1>${escaped(title)}</h1>${body}</body></html>`,
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
