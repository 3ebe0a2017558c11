// Draws the tables of a size guide, and the calculator of the shopper's size.

import { h, hideBroken, useState } from '../../../storefront/script/client/elements.js'
import { Field } from '../../../storefront/script/client/forms.js'
import { Html } from '../../../storefront/script/client/html.js'
import { findFit, findMeasures, parseNumber, toOtherUnit } from './fit.js'

export default {
  texts: {
    en: {
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
  view: Guide,
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
