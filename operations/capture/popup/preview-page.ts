/** The popup as a page of this server: drawn by HTML and CSS alone, no scripts. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { langOf, said } from '#runtime/values/wording'
import type { PopupSettings } from './schema.ts'

const title = { en: 'Preview', 'pt-BR': 'Prévia', es: 'Vista previa' }

/** Texts and addresses are escaped; CSS cannot leave its element, and loads nothing but images. */
export function previewPage({ store }: Context, settings: PopupSettings): Response {
  const { design, texts, fields, roulette } = settings
  const inputs = (['name', 'email', 'phone'] as const)
    .filter((name) => fields[name].enabled)
    .map(
      (name) =>
        `<input disabled aria-label="${escaped(texts[`${name}Placeholder`])}" placeholder="${escaped(texts[`${name}Placeholder`])}${fields[name].required ? ' *' : ''}">`,
    )
  const prizes = roulette.enabled
    ? `<ul>${roulette.prizes.map(({ label, color }) => `<li style="border-color:${color}">${escaped(label)}</li>`).join('')}</ul>`
    : ''
  const image =
    design.imageUrl && design.imagePosition !== 'none'
      ? `<img class="image" alt="" src="${escaped(design.imageUrl)}">`
      : ''
  const logo = design.logoUrl ? `<img class="logo" alt="" src="${escaped(design.logoUrl)}">` : ''
  const body =
    `<main class="overlay ${settings.layout} ${settings.position}"><div class="storefront-popup">${logo}${image}` +
    `<h1>${escaped(texts.title)}</h1><p>${escaped(texts.description)}</p>${prizes}${inputs.join('')}` +
    `<label><input type="checkbox" disabled>${escaped(texts.consentText)}</label>` +
    `<button disabled>${escaped(roulette.enabled ? texts.spinText : texts.buttonText)}</button>` +
    `<p class="close">${escaped(texts.closeText)}</p></div></main>`
  return new Response(
    `<!doctype html><html lang="${escaped(langOf(store.locale))}"><head><meta charset="utf-8"><title>${escaped(`${said(title, store.locale)}: ${store.name}`)}</title>` +
      '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">' +
      `<style>${style(settings)}</style><style>${harmlessCss(design.customCss ?? '')}</style></head>` +
      `<body>${body}</body></html>`,
    {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-security-policy':
          "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: http:; form-action 'none'; " +
          "frame-ancestors 'none'; base-uri 'none'",
      },
    },
  )
}

/** The same CSS where no tag can begin. */
const harmlessCss = (css: string): string => css.replaceAll('<', '\\3c ')

const placed = {
  center: 'align-items:center;justify-content:center',
  top: 'align-items:flex-start;justify-content:center',
  bottom: 'align-items:flex-end;justify-content:center',
  'bottom-left': 'align-items:flex-end;justify-content:flex-start',
  'bottom-right': 'align-items:flex-end;justify-content:flex-end',
} as const

function style({ design, layout, position }: PopupSettings): string {
  const font = design.fontFamily?.replace(/[^\p{L}\p{N} ,'"-]/gu, '').replaceAll('"', "'")
  const radius = layout === 'fullscreen' || layout === 'bar' ? 0 : design.borderRadius
  const width = layout === 'modal' || layout === 'slide-in' ? 'max-width:26rem' : 'max-width:none'
  const overlay = layout === 'modal' || layout === 'fullscreen' ? design.overlayColor : 'transparent'
  return (
    `body{margin:0;font:1rem/1.5 ${font ? `${font},` : ''}system-ui,sans-serif;background:#e5e7eb}` +
    // What is taller than a phone scrolls with the page.
    `.overlay{min-height:100vh;display:flex;background:${overlay};${placed[position]}}` +
    `.storefront-popup{box-sizing:border-box;width:100%;${width};margin:1rem;padding:1.5rem;overflow-wrap:break-word;` +
    `background:${design.backgroundColor};color:${design.textColor};border-radius:${radius}px}` +
    '.fullscreen .storefront-popup{margin:0;align-self:stretch}' +
    '.storefront-popup h1{font-size:1.4rem;margin:0 0 .5rem}.image,.logo{max-width:100%;max-height:10rem}' +
    '.storefront-popup input:not([type]){display:block;width:100%;box-sizing:border-box;padding:.5rem;margin:.5rem 0}' +
    '.storefront-popup input,.storefront-popup button{font:inherit;max-width:100%}.storefront-popup label{display:flex;gap:.6rem;margin:.8rem 0}' +
    '.storefront-popup [type=checkbox]{flex:none;width:1.5rem;height:1.5rem;margin:0}' +
    '.storefront-popup ul{list-style:none;padding:0}.storefront-popup li{border-left:.5rem solid;padding:.2rem .6rem}' +
    `.storefront-popup button{min-height:2.75rem;border:0;padding:.6rem 1.2rem;background:${design.buttonColor};` +
    `color:${design.buttonTextColor};border-radius:${Math.min(radius, 20)}px}` +
    '.close{margin:1rem 0 0}'
  )
}
