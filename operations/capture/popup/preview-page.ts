/** Renders the popup as a page of this server, with HTML and CSS but without scripts. */
import { escapeHtml } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { getLangAttribute, getText } from '#runtime/values/wording'
import type { PopupSettings } from './schema.ts'

const title = { en: 'Preview', 'pt-BR': 'Prévia', es: 'Vista previa' }

/**
 * Texts and URLs are escaped. The merchant's CSS cannot close the style element, and the page's policy lets it load
 * only images.
 */
export function renderPreviewPage({ store }: Context, settings: PopupSettings): Response {
  const { design, texts, fields, roulette } = settings
  const inputs = (['name', 'email', 'phone'] as const)
    .filter((name) => fields[name].enabled)
    .map(
      (name) =>
        `<input disabled aria-label="${escapeHtml(texts[`${name}Placeholder`])}" placeholder="${escapeHtml(texts[`${name}Placeholder`])}${fields[name].required ? ' *' : ''}">`,
    )
  const prizes = roulette.enabled
    ? `<ul>${roulette.prizes.map(({ label, color }) => `<li style="border-color:${color}">${escapeHtml(label)}</li>`).join('')}</ul>`
    : ''
  const image =
    design.imageUrl && design.imagePosition !== 'none'
      ? `<img class="image" alt="" src="${escapeHtml(design.imageUrl)}">`
      : ''
  const logo = design.logoUrl ? `<img class="logo" alt="" src="${escapeHtml(design.logoUrl)}">` : ''
  const body =
    `<main class="overlay ${settings.layout} ${settings.position}"><div class="storefront-popup">${logo}${image}` +
    `<h1>${escapeHtml(texts.title)}</h1><p>${escapeHtml(texts.description)}</p>${prizes}${inputs.join('')}` +
    `<label><input type="checkbox" disabled>${escapeHtml(texts.consentText)}</label>` +
    `<button disabled>${escapeHtml(roulette.enabled ? texts.spinText : texts.buttonText)}</button>` +
    `<p class="close">${escapeHtml(texts.closeText)}</p></div></main>`
  return new Response(
    `<!doctype html><html lang="${escapeHtml(getLangAttribute(store.locale))}"><head><meta charset="utf-8"><title>${escapeHtml(`${getText(title, store.locale)}: ${store.name}`)}</title>` +
      '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">' +
      `<style>${renderStyle(settings)}</style><style>${escapeCss(design.customCss ?? '')}</style></head>` +
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

/** Escapes `<`, so that CSS cannot contain a tag. */
const escapeCss = (css: string): string => css.replaceAll('<', '\\3c ')

const alignments = {
  center: 'align-items:center;justify-content:center',
  top: 'align-items:flex-start;justify-content:center',
  bottom: 'align-items:flex-end;justify-content:center',
  'bottom-left': 'align-items:flex-end;justify-content:flex-start',
  'bottom-right': 'align-items:flex-end;justify-content:flex-end',
} as const

function renderStyle({ design, layout, position }: PopupSettings): string {
  const font = design.fontFamily?.replace(/[^\p{L}\p{N} ,'"-]/gu, '').replaceAll('"', "'")
  const radius = layout === 'fullscreen' || layout === 'bar' ? 0 : design.borderRadius
  const width = layout === 'modal' || layout === 'slide-in' ? 'max-width:26rem' : 'max-width:none'
  const overlay = layout === 'modal' || layout === 'fullscreen' ? design.overlayColor : 'transparent'
  return (
    `body{margin:0;font:1rem/1.5 ${font ? `${font},` : ''}system-ui,sans-serif;background:#e5e7eb}` +
    // `min-height`, so that a popup taller than the screen scrolls with the page.
    `.overlay{min-height:100vh;display:flex;background:${overlay};${alignments[position]}}` +
    `.storefront-popup{box-sizing:border-box;width:100%;${width};margin:1rem;padding:1.5rem;overflow-wrap:anywhere;` +
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
