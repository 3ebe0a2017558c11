// The contact form: its fields, consent and sending, and the answer after it is sent.

import { h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
import { Field, formTexts, sendForm, Trap, useForm } from '../../../storefront/script/client/forms.js'

const inputTypes = {
  phone: 'tel',
  text: 'text',
  email: 'email',
  textarea: 'textarea',
  select: 'select',
  checkbox: 'checkbox',
}
const autocompletes = { name: 'name', email: 'email', phone: 'tel' }
const lengths = { text: 200, email: 254, phone: 40, textarea: 5000 }

export default {
  texts: {
    en: { ...formTexts.en, again: 'Send another message' },
    'pt-BR': { ...formTexts['pt-BR'], again: 'Enviar outra mensagem' },
    es: { ...formTexts.es, again: 'Enviar otro mensaje' },
  },
  view: Filled,
}

/** Requests the form's token when the shopper starts to fill in the form, and again when the token has expired. */
function useToken(ask) {
  const reading = useRef(null)
  const read = () => {
    reading.current = ask('/contact-form').then(({ token }) => ({ token, readAt: performance.now() }))
    return reading.current
  }
  return { read, begin: () => reading.current?.catch(read) ?? read() }
}

function Filled({ settings, ask, t }) {
  const { title, description, fields, design, buttonText, successMessage, errorMessage, ...others } = settings
  const { consentText, consentRequired } = others
  const [isSent, setSent] = useState(false)
  const { read, begin } = useToken(ask)
  const { faults, said, isSending, onSubmit } = useForm({
    t,
    troubleOf: () => errorMessage,
    async send({ elements }) {
      const values = Object.fromEntries(
        fields.map(({ key, type }) => {
          const field = elements[`values.${key}`]
          return [key, type === 'checkbox' ? field.checked : field.value]
        }),
      )
      const consent = elements.consent?.checked ?? false
      const body = { values, consent, pageUrl: location.href, website: elements.website.value }
      await sendForm(ask, { ...(await begin()), read }, '/contact-form/submissions', body)
      setSent(true)
    },
  })
  const button = { background: design.buttonColor, color: design.buttonTextColor }
  const thanks = h('div', { role: 'status' }, isSent ? h(Thanks, { title, successMessage }) : null)
  if (isSent)
    return h(
      'div',
      { key: 'sent' },
      thanks,
      h(
        'button',
        { type: 'button', class: 'action', part: 'button', style: button, onClick: () => setSent(false) },
        t('again'),
      ),
    )
  return h(
    'form',
    { key: 'form', noValidate: true, onSubmit, onFocusIn: () => void begin().catch(() => {}) },
    title ? h('h2', { part: 'title' }, title) : null,
    description ? h('p', { part: 'description' }, description) : null,
    fields.map(({ key, label, type, required, placeholder, options }) =>
      h(Field, {
        key,
        name: `values.${key}`,
        label,
        type: inputTypes[type],
        required,
        placeholder: placeholder ?? undefined,
        maxLength: lengths[type],
        autocomplete: autocompletes[key] ?? autocompletes[type],
        // The empty first option is selected until the shopper chooses another.
        options: options && ['', ...options],
        fault: faults[`values.${key}`],
      }),
    ),
    consentText
      ? h(Field, {
          type: 'checkbox',
          name: 'consent',
          label: consentText,
          required: consentRequired,
          fault: faults.consent,
        })
      : null,
    h(Trap),
    said ? h('p', { class: 'fault', role: 'alert' }, said) : null,
    h('button', { class: 'action', part: 'button', style: button, disabled: isSending }, buttonText),
    thanks,
  )
}

function Thanks({ title, successMessage }) {
  const heading = useRef(null)
  useEffect(() => heading.current.focus(), [])
  return [
    title ? h('h2', { part: 'title' }, title) : null,
    h('p', { ref: heading, tabIndex: -1, part: 'success' }, successMessage),
  ]
}
