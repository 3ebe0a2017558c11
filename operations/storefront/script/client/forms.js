// Forms for shoppers: validation messages and sending. Loaded on demand.

import { h, useState } from './elements.js'

/** A field with its label and error message. `wrap` adds markup around the field. */
export function Field({ label, fault, type = 'text', options, wrap, ...props }) {
  const id = `field-${props.name}`
  const said = fault ? { 'aria-invalid': 'true', 'aria-describedby': `${id}-fault` } : {}
  const tag = type === 'textarea' ? 'textarea' : type === 'select' ? 'select' : 'input'
  const field = h(
    tag,
    { ...(tag === 'input' ? { type } : {}), ...said, ...props, id },
    options?.map((each) => h('option', { value: each }, each)),
  )
  const words = [label, props.required ? h('span', { 'aria-hidden': 'true' }, ' *') : null]
  const wrong = fault ? h('p', { class: 'fault', id: `${id}-fault` }, fault) : null
  if (type === 'checkbox')
    return h('div', null, h('label', { class: 'check', part: 'check' }, field, h('span', null, words)), wrong)
  return h('div', { class: 'field', part: 'field', ...wrap }, h('label', { for: id }, words), field, wrong)
}

/** Texts of fields, shared by all forms. */
export const formTexts = {
  en: {
    required: 'Please fill this in.',
    unticked: 'Please tick this to go on.',
    badEmail: 'Please check the email address.',
    badPhone: 'Please check the phone number.',
    badField: 'Please check this.',
    close: 'Close',
  },
  'pt-BR': {
    required: 'Preencha este campo.',
    unticked: 'Marque para continuar.',
    badEmail: 'Confira o e-mail.',
    badPhone: 'Confira o telefone.',
    badField: 'Confira este campo.',
    close: 'Fechar',
  },
  es: {
    required: 'Completa este campo.',
    unticked: 'Marca la casilla para continuar.',
    badEmail: 'Revisa el correo electrónico.',
    badPhone: 'Revisa el teléfono.',
    badField: 'Revisa este campo.',
    close: 'Cerrar',
  },
}

const findIssue = ({ type, validity }, t) =>
  validity.valueMissing
    ? t(type === 'checkbox' ? 'unticked' : 'required')
    : t(type === 'email' ? 'badEmail' : type === 'tel' ? 'badPhone' : 'badField')

/**
 * State of a form with `noValidate` that shows issues at their fields, in the shopper's language. Sends the form only
 * if the browser's validation finds no issue, then shows issues that the server reports (`email: must be…`,
 * `imageUrls.0: must be…`). `send` may return a promise. `troubleOf` returns the message for an error that concerns no
 * field, `wordsOf` the form's own message for a field.
 */
export function useForm({ t, troubleOf, wordsOf, send }) {
  const [state, setState] = useState({ faults: {} })
  const tell = (fields, more) => {
    const words = fields.map((field) => [field.name, wordsOf?.(field) || findIssue(field, t)])
    setState({ faults: Object.fromEntries(words), ...more })
    fields[0]?.focus()
  }
  const onSubmit = async (event) => {
    event.preventDefault()
    if (state.isSending) return
    const form = event.currentTarget
    const fields = [...form.elements].filter(({ name }) => name)
    const invalid = fields.filter(({ validity }) => !validity.valid)
    if (invalid.length > 0) return tell(invalid)
    setState({ faults: {}, isSending: true })
    try {
      await send(form)
      setState({ faults: {} })
    } catch (error) {
      const named = (error.message ?? '').split('; ').map((each) => each.split(':')[0])
      const isRefused = ({ name }) => named.some((each) => each === name || each.startsWith(`${name}.`))
      const refused = error.code === 'bad_request' ? fields.filter(isRefused) : []
      tell(refused, refused.length > 0 ? {} : { said: troubleOf(error), isFailed: true })
    }
  }
  return { ...state, onSubmit }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const humanMs = 1600

/**
 * Sends a form with its token. A shopper who is faster than the server's bot limit waits for the rest of that time. An
 * expired token is renewed. `read` requests the form's data, at least `{ token }`.
 */
export async function sendForm(ask, { read, ...form }, path, body) {
  const send = async ({ token, readAt }) => {
    await pause(humanMs - (performance.now() - readAt))
    return ask(path, { token, ...body })
  }
  try {
    return await send(form)
  } catch (error) {
    if (!error.message?.startsWith('token:')) throw error
    return send({ ...(await read()), readAt: performance.now() })
  }
}

/** Honeypot: people do not see it, bots fill it in. */
export const Trap = () =>
  h('input', {
    name: 'website',
    tabIndex: -1,
    autocomplete: 'off',
    'aria-hidden': 'true',
    style: 'display:none',
  })
