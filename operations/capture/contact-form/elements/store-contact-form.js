// The contact form: inline if a theme placed it, otherwise opened by a button in a corner.

import { Dialog, h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
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
  css: `
:host { display: block; }
:host([placement=floating]) { display: contents; }
dialog { width: 420px; max-width: calc(100vw - 16px); box-shadow: 0 8px 40px #0004; }
.in-place { padding: 24px; max-width: 640px; }
h2 { margin-block: 0 8px; margin-inline: 0 32px; font-size: 22px; line-height: 1.25; overflow-wrap: anywhere; }
h2:focus { outline: none; }
p { margin: 0 0 12px; overflow-wrap: anywhere; white-space: pre-line; }
textarea { min-height: 110px; resize: vertical; }
.action { font-weight: 600; min-height: 44px; margin-top: 8px; }
.opener { display: inline-flex; align-items: center; gap: 8px; border: 0; padding: 10px 18px; min-height: 48px; border-radius: 24px; font-weight: 600; box-shadow: 0 2px 12px #0003; max-width: 100%; }
.opener svg { flex: none; width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; }
/* On a phone only the sign fits; the label is for screen readers. */
@media (max-width: 767px), (max-height: 479px) {
  .opener { justify-content: center; width: 48px; padding: 0; }
  .opener .words { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
}
`,
  texts: {
    en: { ...formTexts.en, open: 'Contact', again: 'Send another message' },
    'pt-BR': { ...formTexts['pt-BR'], open: 'Contato', again: 'Enviar outra mensagem' },
    es: { ...formTexts.es, open: 'Contacto', again: 'Enviar otro mensaje' },
  },
  places(_isOn, { widgets }) {
    const { placement, position } = widgets.contactFormSettings
    return [
      placement === 'floating'
        ? { spot: `corner-${position}`, attributes: { placement } }
        : { spot: 'contact-form', attributes: { placement } },
    ]
  },
  view: Contact,
}

function Contact(props) {
  const { all, attribute, t } = props
  const [isOpen, setOpen] = useState(false)
  const settings = all.contactFormSettings
  const { title, design } = settings
  const look = {
    background: design.backgroundColor,
    color: design.textColor,
    borderRadius: `${design.borderRadius}px`,
  }
  if (attribute('placement') !== 'floating')
    return h('section', { class: 'in-place', part: 'form', style: look }, h(Filled, { ...props, settings }))
  const close = () => setOpen(false)
  return [
    h(
      'button',
      {
        type: 'button',
        class: 'opener',
        part: 'opener',
        'aria-haspopup': 'dialog',
        style: { background: design.buttonColor, color: design.buttonTextColor },
        onClick: () => setOpen(true),
      },
      h(
        'svg',
        { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
        h('path', { d: 'M3 5h18v14H3zM3 6l9 7 9-7' }),
      ),
      h('span', { class: 'words' }, title || t('open')),
    ),
    isOpen
      ? h(
          Dialog,
          { label: title || t('open'), closeText: t('close'), onClose: close, style: look },
          h(Filled, { ...props, settings }),
        )
      : null,
  ]
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
