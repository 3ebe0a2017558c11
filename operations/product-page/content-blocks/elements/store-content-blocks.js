// Shows the content blocks of one `placement`, or all of them.

import { inkHere } from '../../../storefront/script/client/colours.js'
import { h, isFor, useEffect, useRef, useSeen } from '../../../storefront/script/client/elements.js'
import { parsed } from '../../../storefront/script/client/html.js'
import { designs } from './block-designs.js'

export default {
  css: `
:host { display: block; }
.block { margin: 16px 0; overflow-wrap: anywhere; border-style: solid; border-width: 0; }
.block h2 { margin: 0 0 4px; font-size: 1.4em; line-height: 1.25; }
.subtitle { margin: 0 0 12px; }
.html > :first-child { margin-block-start: 0; }
.html > :last-child { margin-block-end: 0; }
.html table { width: 100%; border-collapse: collapse; }
.html :is(td, th) { padding: 6px 8px; border-bottom: 1px solid currentColor; text-align: start; }
.html pre { white-space: pre-wrap; }
.block img { display: block; }
.block svg { flex: none; }
.block a { display: inline-block; min-height: 24px; text-decoration: underline; }
.warranty { display: flex; gap: 16px; text-align: start; }
.warranty .html { margin: 4px 0; }
details { border-bottom: 1px solid #d1d5db; text-align: start; }
details:last-of-type { border-bottom: 0; }
summary { padding: 12px 0; min-height: 24px; cursor: pointer; font-weight: 600; }
details .html { padding: 0 0 12px; }
.wide { width: 0; min-width: 100%; overflow-x: auto; }
.wide table { border-collapse: collapse; width: 100%; min-width: calc(var(--columns) * 96px); }
.wide :is(th, td) { padding: 10px 8px; border-bottom: 1px solid #d1d5db; text-align: center; }
.wide :is(th, td):first-child { text-align: start; }
.wide th img { margin: 0 auto 8px; width: 72px; height: 72px; object-fit: cover; border-radius: 6px; }
.highlighted { box-shadow: inset 2px 0 var(--accent), inset -2px 0 var(--accent); }
thead .highlighted { box-shadow: inset 2px 2px var(--accent), inset -2px 0 var(--accent); }
tbody tr:last-child .highlighted { box-shadow: inset 2px 0 var(--accent), inset -2px -2px var(--accent); }
.mark { color: var(--accent); font-size: 1.2em; font-weight: 700; }
.specifications { margin: 0; text-align: start; }
.specifications > div { display: flex; gap: 12px; padding: 8px 0; border-bottom: 1px solid #d1d5db; }
.specifications dt { flex: 0 0 40%; font-weight: 600; }
.specifications dd { margin: 0; }
.features { display: grid; gap: 16px; padding: 0; margin: 0; list-style: none;
  grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
.features > li { display: flex; flex-direction: column; gap: 4px; align-items: var(--items); }
.features img { width: 40px; height: 40px; object-fit: contain; }
.features p { margin: 0; }
.features svg, .warranty > svg { color: var(--accent); }
.banner { display: block !important; }
.banner img { width: 100%; border-radius: inherit; }
.comparing { position: relative; overflow: hidden; direction: ltr; touch-action: pan-y; min-height: 120px; }
.comparing img { width: 100%; }
.comparing .before { position: absolute; inset: 0; clip-path: inset(0 calc(100% - var(--at)) 0 0); }
.comparing .before img { height: 100%; object-fit: cover; }
.comparing input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: ew-resize; }
.comparing .line { position: absolute; inset: 0 auto; left: var(--at); width: 3px; margin-left: -1.5px; background: #fff;
  box-shadow: 0 0 0 1px rgb(0 0 0 / .4); pointer-events: none; }
.comparing .line::after { content: '⇆'; position: absolute; top: 50%; left: 50%; width: 36px; height: 36px; line-height: 36px;
  text-align: center; color: #111827; background: #fff; border-radius: 50%; transform: translate(-50%, -50%);
  box-shadow: 0 0 0 1px rgb(0 0 0 / .4); }
.comparing input:focus-visible + .line { outline: 3px solid var(--accent); outline-offset: 2px; }
.comparing .label { position: absolute; bottom: 8px; padding: 2px 8px; border-radius: 4px; background: #111827; color: #fff;
  font-size: 13px; pointer-events: none; max-width: 45%; }
.steps { list-style: none; padding: 0; margin: 0; display: grid; gap: 16px; text-align: start; }
.steps > li { display: grid; grid-template-columns: 32px minmax(0, 1fr); gap: 4px 12px; }
.steps .number { width: 32px; height: 32px; line-height: 32px; text-align: center; border-radius: 50%; font-weight: 700;
  border: 2px solid var(--accent); line-height: 28px; }
.steps h3 { margin: 3px 0 0; font-size: 1.05em; }
.steps img, .steps .html { grid-column: 2; }
.steps img { border-radius: 6px; max-height: 320px; }
@container (max-width: 719px) { .specifications.two { columns: 1; } }
@container (min-width: 720px) {
  .specifications.two { columns: 2; column-gap: 32px; }
  .specifications.two > div { break-inside: avoid; }
}
@container (max-width: 479px) { .features { grid-template-columns: repeat(min(var(--columns), 2), minmax(0, 1fr)); } }
`,
  texts: {
    en: {
      'days.one': '{{count}} day of warranty',
      'days.other': '{{count}} days of warranty',
      'months.one': '{{count}} month of warranty',
      'months.other': '{{count}} months of warranty',
      'years.one': '{{count}} year of warranty',
      'years.other': '{{count}} years of warranty',
      yes: 'Yes',
      no: 'No',
      comparison: 'Comparison',
      feature: 'Feature',
      compare: '{{before}} and {{after}}: move to compare',
      opensNew: '(opens in a new tab)',
    },
    'pt-BR': {
      'days.one': '{{count}} dia de garantia',
      'days.other': '{{count}} dias de garantia',
      'months.one': '{{count}} mês de garantia',
      'months.other': '{{count}} meses de garantia',
      'years.one': '{{count}} ano de garantia',
      'years.other': '{{count}} anos de garantia',
      yes: 'Sim',
      no: 'Não',
      comparison: 'Comparação',
      feature: 'Característica',
      compare: '{{before}} e {{after}}: mova para comparar',
      opensNew: '(abre em uma nova aba)',
    },
    es: {
      'days.one': '{{count}} día de garantía',
      'days.other': '{{count}} días de garantía',
      'months.one': '{{count}} mes de garantía',
      'months.other': '{{count}} meses de garantía',
      'years.one': '{{count}} año de garantía',
      'years.other': '{{count}} años de garantía',
      yes: 'Sí',
      no: 'No',
      comparison: 'Comparación',
      feature: 'Característica',
      compare: '{{before}} y {{after}}: mueve para comparar',
      opensNew: '(se abre en una pestaña nueva)',
    },
  },
  places: ({ items }, shown) =>
    [...new Set(items.filter((block) => isShown(block, shown)).map(({ placement }) => placement))].map(
      (placement) => ({ spot: placement, attributes: { placement } }),
    ),
  view: Blocks,
}

const isShown = ({ device: devices, scope }, shown) => scope === undefined && isFor({ devices }, shown)

function Blocks({ data, attribute, ...shown }) {
  const placement = attribute('placement')
  const context = { ...shown, productId: attribute('product-id') ?? shown.productId }
  const blocks = data.items.filter(
    (block) => (placement === null || block.placement === placement) && isShown(block, context),
  )
  useQuestions(
    context.host,
    blocks.filter(({ type, design }) => type === 'faq' && design.structuredData),
  )
  return blocks.map((block) => h(Block, { key: block.id, block, ...context }))
}

const logical = { left: 'start', right: 'end', center: 'center' }

function Block({ block, ...context }) {
  const { id, type, design } = block
  const { tell, productId } = context
  const about = { resourceId: id, ...(productId ? { productId } : {}) }
  const ref = useSeen(() => tell('impression', 'content-block', about), [id])
  const onChosen = () => tell('click', 'content-block', about)
  const { style, title, subtitle } = design
  const align = logical[style.align]
  const ink = (colour) => (style.backgroundColor ? colour : inkHere(context.host, colour, '#111827'))
  const box = {
    color: ink(style.textColor),
    background: style.backgroundColor ?? undefined,
    borderColor: style.borderColor ?? undefined,
    borderWidth: style.borderColor ? '1px' : undefined,
    borderRadius: `${style.borderRadius}px`,
    padding: `${style.padding}px`,
    fontSize: `${style.fontSize}px`,
    textAlign: align,
    containerType: 'inline-size',
    '--accent': style.accentColor,
    '--items': align,
  }
  return h(
    'section',
    {
      ref,
      class: 'block',
      part: `block ${type}`,
      style: box,
      'aria-label': title ? undefined : design.alt,
      onClick(event) {
        if (event.target.closest('a[href]')) onChosen()
      },
    },
    title ? h('h2', { part: 'title', style: { color: ink(style.titleColor) } }, title) : null,
    subtitle ? h('p', { class: 'subtitle', part: 'subtitle' }, subtitle) : null,
    h(designs[type], { id, design, onChosen, ...context }),
  )
}

/** Adds FAQ markup for search engines (schema.org) to the element's light DOM, which browsers do not display. */
function useQuestions(host, blocks) {
  const made = useRef(null)
  useEffect(() => {
    made.current?.remove()
    made.current = null
    if (blocks.length === 0) return
    const mainEntity = blocks.flatMap(({ design }) =>
      design.items.map(({ question, answerHtml }) => ({
        '@type': 'Question',
        name: question,
        acceptedAnswer: { '@type': 'Answer', text: answerHtml },
      })),
    )
    const json = JSON.stringify({ '@context': 'https://schema.org', '@type': 'FAQPage', mainEntity })
    // The script element is parsed from HTML, because a Content-Security-Policy may forbid script elements created by code,
    // even if they contain only data.
    const text = `<p><script type="application/ld+json">${json.replaceAll('<', '\\u003c')}</script>`
    const script = parsed(text).querySelector('script')
    host.append(script)
    made.current = script
    return () => script.remove()
  }, [blocks.map(({ id }) => id).join()])
}
