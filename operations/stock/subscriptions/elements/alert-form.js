// The form that subscribes to a product that is sold out.

import { h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
import { Field, Trap } from '../../../storefront/script/client/forms.js'

// Built-in texts. A text that the merchant has set replaces the built-in text.
const texts = {
  en: {
    modalSubmitButtonText: 'Notify me',
    invalidEmailMessage: 'Enter a valid email.',
    email: 'Email',
    phone: 'Phone',
    way: 'How shall we tell you?',
    variant: 'Option',
    name: 'Your name (optional)',
    phoneFault: 'Enter a valid phone number, with its area code.',
    inStock: 'It is back in stock: load the page again to buy it.',
    tooMany: 'These were too many tries: wait a little, and try again.',
  },
  'pt-BR': {
    modalSubmitButtonText: 'Avise-me',
    invalidEmailMessage: 'Informe um e-mail válido.',
    email: 'E-mail',
    phone: 'Telefone',
    way: 'Como avisamos você?',
    variant: 'Opção',
    name: 'Seu nome (opcional)',
    phoneFault: 'Informe um telefone válido, com DDD.',
    inStock: 'Já voltou ao estoque: recarregue a página para comprar.',
    tooMany: 'Foram tentativas demais: espere um pouco e tente de novo.',
  },
  es: {
    modalSubmitButtonText: 'Avísame',
    invalidEmailMessage: 'Escribe un correo válido.',
    email: 'Correo',
    phone: 'Teléfono',
    way: '¿Cómo te avisamos?',
    variant: 'Opción',
    name: 'Tu nombre (opcional)',
    phoneFault: 'Escribe un teléfono válido, con su código de área.',
    inStock: 'Ya volvió: recarga la página para comprarlo.',
    tooMany: 'Fueron demasiados intentos: espera un poco e inténtalo de nuevo.',
  },
}

export default { texts, view: AlertForm }

function AlertForm({ data, variants, source, ask, t }) {
  const { allowEmails, allowPhones } = data
  const [way, setWay] = useState(allowEmails ? 'email' : 'phone')
  const [state, setState] = useState('asking')
  const [fault, setFault] = useState(null)
  const [said, setSaid] = useState(null)
  const box = useRef(null)
  const answer = useRef(null)
  useEffect(() => {
    if (fault) box.current?.querySelector('[aria-invalid=true]')?.focus()
  }, [fault])
  useEffect(() => {
    if (said !== null) answer.current.focus()
  }, [said])

  if (said !== null)
    return h(
      'p',
      { ref: answer, tabIndex: -1, role: 'status', part: 'success', style: 'outline:none' },
      said || '✓',
    )

  const refuse = (text) => {
    setState('asking')
    setFault({ field: way, text })
  }
  const wrong = () =>
    way === 'email' ? data.invalidEmailMessage || t('invalidEmailMessage') : t('phoneFault')
  const send = async (event) => {
    event.preventDefault()
    if (state === 'sending') return
    const { email = '', phone = '', name, variantId, website } = Object.fromEntries(new FormData(box.current))
    const contact = (way === 'email' ? email : phone).trim()
    setFault(null)
    if (way === 'email' ? !/^\S+@\S+\.\S+$/.test(contact) : contact.replace(/\D/g, '').length < 6)
      return refuse(wrong())
    setState('sending')
    try {
      const { message } = await ask('/stock-notifications', {
        variantId: variantId ?? variants[0].variantId,
        [way]: contact,
        name: name.trim() || undefined,
        source,
        website: website || undefined,
      })
      setSaid(message)
    } catch ({ code, message }) {
      const field = /^(\w+):/.exec(message ?? '')?.[1]
      if (code === 'bad_request' && field === way) return refuse(wrong())
      setState(code === 'conflict' ? 'asking' : 'failed')
      const text =
        code === 'conflict'
          ? field === 'variantId'
            ? t('inStock')
            : data.alreadySubscribedMessage || message
          : code === 'rate_limited'
            ? t('tooMany')
            : data.errorMessage
      setFault({ field: null, text })
    }
  }

  const label = {
    email: data.emailInputPlaceholder || t('email'),
    phone: data.phoneInputPlaceholder || t('phone'),
  }
  const faultOf = (name) => (fault?.field === name ? fault.text : null)
  const words = {
    asking: data.modalSubmitButtonText,
    sending: data.loadingButtonText,
    failed: data.retryButtonText,
  }[state]
  return h(
    'form',
    { ref: box, part: 'form', noValidate: true, onSubmit: send },
    variants.length > 1
      ? h(
          'div',
          { class: 'field' },
          h('label', { for: 'variant' }, t('variant')),
          h(
            'select',
            { id: 'variant', name: 'variantId' },
            variants.map(({ variantId, name }) => h('option', { value: variantId }, name)),
          ),
        )
      : null,
    allowEmails && allowPhones
      ? h(
          'fieldset',
          null,
          h('legend', null, t('way')),
          ['email', 'phone'].map((each) =>
            h(
              'label',
              { class: 'way' },
              h('input', {
                type: 'radio',
                name: 'way',
                value: each,
                checked: way === each,
                onChange() {
                  setFault(null)
                  setWay(each)
                },
              }),
              t(each),
            ),
          ),
        )
      : null,
    way === 'email'
      ? h(Field, {
          key: 'email',
          name: 'email',
          type: 'email',
          label: label.email,
          required: true,
          maxLength: 254,
          autocomplete: 'email',
          inputMode: 'email',
          fault: faultOf('email'),
        })
      : h(Field, {
          key: 'phone',
          name: 'phone',
          type: 'tel',
          label: label.phone,
          required: true,
          maxLength: 40,
          autocomplete: 'tel',
          fault: faultOf('phone'),
        }),
    h(Field, { name: 'name', label: t('name'), maxLength: 80, autocomplete: 'name' }),
    h(Trap),
    h('p', { class: 'fault', part: 'fault', role: 'alert' }, fault && !fault.field ? fault.text : null),
    h(
      'button',
      {
        class: 'action',
        part: 'submit',
        'aria-disabled': state === 'sending' ? 'true' : null,
        style: { background: data.modalButtonColor, color: data.modalButtonTextColor },
      },
      words || t('modalSubmitButtonText'),
    ),
  )
}
