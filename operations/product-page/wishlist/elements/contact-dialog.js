// The dialog that asks for a contact when a shopper adds a product to the list.

import { Dialog, h, useState } from '../../../storefront/script/client/elements.js'
import { Field } from '../../../storefront/script/client/forms.js'

export default {
  texts: {
    en: {
      close: 'Close',
      save: 'Save',
      email: 'Email',
      phone: 'Phone',
      missing: 'Leave an email or a phone',
    },
    'pt-BR': {
      close: 'Fechar',
      save: 'Salvar',
      email: 'E-mail',
      phone: 'Telefone',
      missing: 'Deixe um e-mail ou um telefone',
    },
    es: {
      close: 'Cerrar',
      save: 'Guardar',
      email: 'Correo',
      phone: 'Teléfono',
      missing: 'Deja un correo o un teléfono',
    },
  },
  view: ContactDialog,
}

/** Asks once for a contact: before the product is added if a contact is required, afterwards if it is optional. */
function ContactDialog({ data: { settings }, t, tell, keep, onClose, onGiven }) {
  const [fault, setFault] = useState('')
  const send = (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    const given = Object.fromEntries(
      settings.contactFields.flatMap((name) => (fields[name]?.trim() ? [[name, fields[name].trim()]] : [])),
    )
    if (Object.keys(given).length === 0) return setFault(t('missing'))
    tell('wishlist-contact', 'wishlist', { contact: { ...given, consent: fields.consent !== undefined } })
    keep.write('wishlist.contact', '1')
    onGiven()
  }
  return h(
    Dialog,
    { label: settings.contactText, closeText: t('close'), onClose },
    h('p', null, settings.contactText),
    h(
      'form',
      { onSubmit: send, noValidate: false },
      settings.contactFields.map((name) =>
        h(Field, {
          name,
          label: t(name),
          type: name === 'email' ? 'email' : 'tel',
          autocomplete: name === 'email' ? 'email' : 'tel',
        }),
      ),
      h(
        'label',
        { class: 'consent' },
        h('input', { type: 'checkbox', name: 'consent' }),
        h('span', null, settings.consentText),
      ),
      fault ? h('p', { class: 'fault', role: 'alert' }, fault) : null,
      h(
        'button',
        { class: 'action', part: 'submit', style: { background: '#111827', color: '#ffffff' } },
        t('save'),
      ),
    ),
  )
}
