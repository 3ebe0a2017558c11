// Shows a product's size guide in a dialog, in a drawer, or inline, with a calculator of the shopper's size.

import { Dialog, h, hideBroken, useState } from '../../../storefront/script/client/elements.js'
import { Field } from '../../../storefront/script/client/forms.js'
import { Html } from '../../../storefront/script/client/html.js'
import { Icon } from '../../../storefront/script/client/icons.js'
import { findFit, findMeasures, parseNumber, toOtherUnit } from './fit.js'

export default {
  css: `
:host { display: block; }
.opener { display: inline-flex; align-items: center; gap: 6px; padding: 4px 0; border: 0; background: none; text-decoration: underline;
  text-align: start; overflow-wrap: anywhere; }
.guide { overflow-wrap: anywhere; }
.inline { margin: 16px 0; }
h2 { margin: 0 24px 12px 0; font-size: 1.3em; }
h3 { margin: 16px 0 8px; font-size: 1.05em; }
dialog { width: min(640px, calc(100vw - 16px)); max-width: none; border-radius: 10px; background: #fff; color: #111827; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog.drawer { position: fixed; inset: 0; inset-inline-start: auto; margin: 0; margin-inline-start: auto; height: 100dvh;
  max-height: 100dvh; width: min(480px, 100vw); border-radius: 0; }
.units { display: inline-flex; margin: 0 0 8px; padding: 0; border: 1px solid #6b7280; border-radius: 6px; overflow: hidden; }
.units button { border: 0; padding: 6px 16px; min-height: 32px; background: none; }
.units button[aria-pressed=true] { background: #111827; color: #fff; }
@media (forced-colors: active) {
  .units button[aria-pressed=true] { forced-color-adjust: none; background: Highlight; color: HighlightText; }
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: start; font-weight: 600; padding: 8px 0; }
th, td { padding: 8px 10px; border: 1px solid #d1d5db; text-align: center; }
thead th { background: #f3f4f6; color: #111827; }
tbody th { font-weight: 600; }
.yours > * { background: #dcfce7; color: #14532d; }
.image { display: block; margin: 12px auto; }
.html > :first-child { margin-block-start: 0; }
.html table { font-size: inherit; }
details { margin: 8px 0 16px; border: 1px solid #d1d5db; border-radius: 6px; padding: 0 12px; }
summary { padding: 10px 0; min-height: 24px; cursor: pointer; font-weight: 600; }
form { padding-bottom: 12px; }
.fields { display: grid; gap: 0 12px; grid-template-columns: repeat(auto-fill, minmax(130px, 1fr)); }
.action { background: #111827; color: #fff; margin-top: 4px; }
.result { margin: 12px 0 0; }
.result:empty { display: none; }
.result strong { font-size: 1.15em; }
`,
  texts: {
    en: {
      close: 'Close',
      units: 'Unit',
      picture: 'How to measure: {{name}}',
      find: 'Find my size',
      measure: '{{name}} ({{unit}})',
      show: 'Show my size',
      yours: 'Your size: {{size}}',
      isYours: 'your size',
      each: '{{name}}: {{size}}',
      between: '{{name}}: between two sizes, take {{size}}',
      larger: 'Your measurements need different sizes: the larger one fits all of them.',
      none: 'Your measurements are larger than our largest size. Ask us, we are glad to help.',
      noNumber: 'Write at least one measurement as a number, such as 92 or 92.5.',
      wrong: 'This is no number.',
    },
    'pt-BR': {
      close: 'Fechar',
      units: 'Unidade',
      picture: 'Como medir: {{name}}',
      find: 'Descobrir meu tamanho',
      measure: '{{name}} ({{unit}})',
      show: 'Ver meu tamanho',
      yours: 'Seu tamanho: {{size}}',
      isYours: 'seu tamanho',
      each: '{{name}}: {{size}}',
      between: '{{name}}: entre dois tamanhos, prefira {{size}}',
      larger: 'Suas medidas pedem tamanhos diferentes: o maior serve em todas.',
      none: 'Suas medidas passam do nosso maior tamanho. Fale com a gente, ajudamos com prazer.',
      noNumber: 'Escreva ao menos uma medida em números, como 92 ou 92,5.',
      wrong: 'Isto não é um número.',
    },
    es: {
      close: 'Cerrar',
      units: 'Unidad',
      picture: 'Cómo medir: {{name}}',
      find: 'Encontrar mi talla',
      measure: '{{name}} ({{unit}})',
      show: 'Ver mi talla',
      yours: 'Tu talla: {{size}}',
      isYours: 'tu talla',
      each: '{{name}}: {{size}}',
      between: '{{name}}: entre dos tallas, elige {{size}}',
      larger: 'Tus medidas piden tallas distintas: la mayor sirve para todas.',
      none: 'Tus medidas superan nuestra talla más grande. Escríbenos y te ayudamos.',
      noNumber: 'Escribe al menos una medida en números, como 92 o 92,5.',
      wrong: 'Esto no es un número.',
    },
  },
  places: ({ display }) => [{ spot: display === 'inline' ? 'below-description' : 'above-buy-button' }],
  view: SizeGuide,
}

function SizeGuide({ data, ...context }) {
  const [isOpen, setOpen] = useState(false)
  const { t } = context
  if (data.display === 'inline') {
    return h(
      'section',
      { class: 'guide inline', part: 'guide', 'aria-label': data.name },
      h(Guide, { data, ...context }),
    )
  }
  return [
    h(
      'button',
      {
        type: 'button',
        class: 'opener',
        part: 'button',
        'aria-haspopup': 'dialog',
        onClick: () => setOpen(true),
      },
      h(Icon, { name: 'ruler', size: 20 }),
      data.linkText,
    ),
    isOpen
      ? h(
          Dialog,
          { label: data.name, closeText: t('close'), class: data.display, onClose: () => setOpen(false) },
          h('div', { class: 'guide', part: 'guide' }, h(Guide, { data, ...context })),
        )
      : null,
  ]
}

/** The measurements that the shopper entered in this browser session, also for other products. */
const remembered = (session) => JSON.parse(session.read('measures') || '{}')

function Guide({ data, keep, session, t, shop }) {
  const { name, unit, tables, switched, measures, instructionsHtml, imageUrl } = data
  const wanted = keep.read('unit')
  const [shownUnit, setUnit] = useState(switched && wanted === switched.unit ? wanted : unit)
  const shown = switched && shownUnit === switched.unit ? switched.tables : tables
  const choose = (chosen) => {
    keep.write('unit', chosen)
    setUnit(chosen)
  }
  return [
    h('h2', { part: 'title' }, name),
    switched
      ? h(
          'div',
          { class: 'units', part: 'units', role: 'group', 'aria-label': t('units') },
          [unit, switched.unit].map((each) =>
            h(
              'button',
              { type: 'button', 'aria-pressed': String(each === shownUnit), onClick: () => choose(each) },
              each,
            ),
          ),
        )
      : null,
    shown.map((table, at) =>
      h(Table, {
        key: `${at} ${shownUnit}`,
        at,
        table,
        among: measures[at],
        unit: shownUnit,
        session,
        t,
        shop,
        label: table.title ?? name,
      }),
    ),
    imageUrl
      ? h('img', {
          class: 'image',
          part: 'image',
          src: imageUrl,
          alt: t('picture', { name }),
          loading: 'lazy',
          onError: hideBroken,
        })
      : null,
    instructionsHtml ? h(Html, { class: 'html', part: 'instructions', html: instructionsHtml }) : null,
  ]
}

function Table({ table, label, t, ...context }) {
  const [fit, setFit] = useState(null)
  const { title, columns, rows } = table
  const row = (cells, at) => {
    const isYours = fit?.row === at
    const [first, ...others] = cells
    const size = isYours ? [first, h('span', { class: 'hidden' }, ` (${t('isYours')})`)] : first
    return h(
      'tr',
      { class: isYours ? 'yours' : undefined, part: isYours ? 'your-size' : undefined },
      h('th', { scope: 'row' }, size),
      others.map((each) => h('td', null, each)),
    )
  }
  return [
    h(
      'div',
      { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': label },
      h(
        'table',
        { part: 'table' },
        title ? h('caption', null, title) : null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            columns.map((each) => h('th', { scope: 'col' }, each)),
          ),
        ),
        h('tbody', null, rows.map(row)),
      ),
    ),
    context.unit === 'none' ? null : h(Calculator, { table, t, fit, setFit, ...context }),
  ]
}

function Calculator({ table, among, at: place, unit, session, t, shop, fit, setFit }) {
  const measures = findMeasures(table, among)
  const [written, setWritten] = useState(() => inUnit(remembered(session), unit, shop))
  const [faults, setFaults] = useState([])
  const [isEmpty, setEmpty] = useState(false)
  if (measures.length === 0) return null
  const getText = (name) => written[name] ?? ''
  const submit = (event) => {
    event.preventDefault()
    const values = measures.map(({ name, at }) => [name, at, getText(name).trim()])
    const wrong = values.flatMap(([name, _at, text]) =>
      text !== '' && parseNumber(text) === null ? [name] : [],
    )
    setFaults(wrong)
    const given = Object.fromEntries(values.map(([, at, text]) => [at, parseNumber(text)]))
    const found = findFit(table, given, among)
    setEmpty(found === null && wrong.length === 0)
    setFit(wrong.length > 0 ? null : found)
    session.write('measures', JSON.stringify({ unit, values: written }))
  }
  return h(
    'details',
    { part: 'calculator' },
    h('summary', null, t('find')),
    h(
      'form',
      { onSubmit: submit, noValidate: true },
      h(
        'div',
        { class: 'fields' },
        measures.map(({ name, at }) =>
          h(Field, {
            name: `measure-${place}-${at}`,
            label: t('measure', { name, unit }),
            inputMode: 'decimal',
            autocomplete: 'off',
            maxLength: 8,
            value: getText(name),
            fault: faults.includes(name) ? t('wrong') : null,
            onInput: ({ target }) => setWritten((before) => ({ ...before, [name]: target.value })),
          }),
        ),
      ),
      h('button', { class: 'action', part: 'action' }, t('show')),
      h(
        'div',
        { class: 'result', part: 'result', role: 'status' },
        isEmpty ? t('noNumber') : fit ? h(Result, { fit, table, t }) : null,
      ),
    ),
  )
}

function Result({ fit: { row, needs }, table: { rows }, t }) {
  if (row === null) return t('none')
  const getSize = (at) => rows[at][0]
  const differ = needs.some((each) => each.row !== row)
  return [
    h('strong', null, t('yours', { size: getSize(row) })),
    needs.length > 1 || needs[0].isBetween
      ? h(
          'ul',
          null,
          needs.map(({ name, row: its, isBetween }) =>
            h('li', null, t(isBetween ? 'between' : 'each', { name, size: getSize(its) })),
          ),
        )
      : null,
    differ ? h('p', null, t('larger')) : null,
  ]
}

/** Returns the remembered measurements in a unit, converting those that were entered in the other unit. */
function inUnit({ unit: from, values = {} }, unit, { locale }) {
  if (!from || from === unit) return values
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, text]) => {
      const value = parseNumber(text)
      const options = { useGrouping: false, maximumFractionDigits: 1 }
      return value === null ? [] : [[name, toOtherUnit(value, from).toLocaleString(locale, options)]]
    }),
  )
}
