// Draws the content of the popup: its form, and the result of a subscription.

import { CopyButton } from '../../../storefront/script/client/copying.js'
import {
  dayOf,
  h,
  Picture,
  useEffect,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'
import { Field, formTexts, sendForm, Trap, useForm } from '../../../storefront/script/client/forms.js'
import { readPopup } from './popup-rules.js'
import { Wheel } from './popup-wheel.js'

const texts = {
  en: {
    ...formTexts.en,
    copy: 'Copy',
    copied: 'Copied',
    emailed: 'Your coupon is on its way to your email.',
    until: 'Valid until {{date}}.',
    done: 'Continue shopping',
    wheel: 'Wheel of prizes: {{prizes}}',
  },
  'pt-BR': {
    ...formTexts['pt-BR'],
    copy: 'Copiar',
    copied: 'Copiado',
    emailed: 'Seu cupom está a caminho do seu e-mail.',
    until: 'Válido até {{date}}.',
    done: 'Continuar comprando',
    wheel: 'Roleta de prêmios: {{prizes}}',
  },
  es: {
    ...formTexts.es,
    copy: 'Copiar',
    copied: 'Copiado',
    emailed: 'Tu cupón va camino a tu correo.',
    until: 'Válido hasta el {{date}}.',
    done: 'Seguir comprando',
    wheel: 'Ruleta de premios: {{prizes}}',
  },
}

export default { texts, view: Content }

const fieldSpecs = [
  ['name', { autocomplete: 'name', maxLength: 120 }],
  ['email', { type: 'email', autocomplete: 'email', inputMode: 'email' }],
  ['phone', { type: 'tel', autocomplete: 'tel', maxLength: 40 }],
]

/**
 * `onSubscribed` is called with the server's response; the caller passes the response back as `answer`. While the wheel
 * turns, `spinning.current` is a function that stops it.
 */
function Content({ popup, isPreview, answer, onSubscribed, onClose, spinning, ...props }) {
  const { t, tell, shop } = props
  const { texts, design, roulette } = popup.settings
  // If the response arrived before this was drawn (the popup was closed and reopened), the wheel does not turn.
  const [isStill, setStill] = useState(answer !== null)
  const seen = useSeen(isPreview ? null : () => tell('impression', 'newsletter'))
  const isThanked = answer && (isStill || !roulette.enabled || !answer.prize)
  const stop = () => setStill(true)
  spinning.current = answer && !isThanked ? stop : null
  const wheel = roulette.enabled
    ? h(Wheel, {
        prizes: roulette.prizes,
        prizeId: answer?.prize?.id ?? null,
        label: t('wheel', {
          prizes: new Intl.ListFormat(shop.locale).format(roulette.prizes.map(({ label }) => label)),
        }),
        onStop: stop,
      })
    : null
  return h(
    'div',
    { class: `frame image-${design.imageUrl ? design.imagePosition : 'none'}`, part: 'frame' },
    design.imagePosition === 'none'
      ? null
      : h(Picture, { class: 'image', part: 'image', src: design.imageUrl }),
    h(
      'div',
      { class: `inside${wheel ? ' with-wheel' : ''}` },
      wheel,
      h(
        'div',
        { ref: seen, class: 'words' },
        h(Picture, { class: 'logo', part: 'logo', src: design.logoUrl }),
        isThanked
          ? null
          : h(
              'div',
              { class: 'lead' },
              h('h2', { part: 'title' }, texts.title),
              h('p', { part: 'description' }, texts.description),
            ),
        h('div', { role: 'status' }, isThanked ? h(Thanks, { ...props, popup, answer, onClose }) : null),
        isThanked ? null : h(Subscribe, { ...props, popup, onSubscribed, isTaken: answer !== null, onClose }),
      ),
    ),
  )
}

function Subscribe({ popup, sending, onSubscribed, isTaken, onClose, t, ask, visitorId, device }) {
  const { texts, fields, design, roulette, consentRequired } = popup.settings
  const read = () => readPopup(ask)
  const { faults, said, isSending, onSubmit } = useForm({
    t,
    troubleOf: () => texts.errorMessage,
    async send(form) {
      const typed = Object.fromEntries(
        fieldSpecs.flatMap(([name]) => {
          const value = form.elements[name]?.value.trim()
          return value ? [[name, value]] : []
        }),
      )
      const { consent, website } = form.elements
      const about = { consent: consent.checked, visitorId, device, website: website.value }
      const body = { ...typed, ...about, pageUrl: location.href }
      sending.current = true
      try {
        onSubscribed(await sendForm(ask, { ...popup, read }, '/newsletter/subscribers', body))
      } finally {
        sending.current = false
      }
    },
  })
  const button = { background: design.buttonColor, color: design.buttonTextColor }
  return h(
    'form',
    { noValidate: true, onSubmit, part: 'form' },
    h(
      'div',
      { class: 'fields' },
      fieldSpecs
        .filter(([name]) => fields[name].enabled)
        .map(([name, props]) => {
          const words = texts[`${name}Placeholder`]
          const { required } = fields[name]
          return h(Field, {
            ...props,
            name,
            required,
            label: words,
            placeholder: words,
            fault: faults[name],
            wrap: { class: 'field floating' },
          })
        }),
    ),
    h(Field, {
      type: 'checkbox',
      name: 'consent',
      label: texts.consentText,
      required: consentRequired,
      fault: faults.consent,
    }),
    h(Trap),
    said ? h('p', { class: 'fault', role: 'alert' }, said) : null,
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        { class: 'action', part: 'button', style: button, disabled: isSending || isTaken },
        roulette.enabled ? texts.spinText : texts.buttonText,
      ),
      h('button', { type: 'button', class: 'refuse', part: 'refuse', onClick: onClose }, texts.closeText),
    ),
  )
}

function Thanks({ popup, answer, onClose, t, shop }) {
  const { texts, design } = popup.settings
  const { status, prize, coupon } = answer
  const isKnown = status === 'already-subscribed'
  const heading = useRef(null)
  useEffect(() => heading.current.focus(), [])
  const button = { background: design.buttonColor, color: design.buttonTextColor }
  return [
    h(
      'h2',
      { ref: heading, tabIndex: -1, part: 'title' },
      isKnown ? texts.alreadySubscribedMessage : texts.successTitle,
    ),
    isKnown ? null : h('p', { part: 'description' }, texts.successMessage),
    prize ? h('p', { class: 'prize', part: 'prize' }, prize.label) : null,
    coupon?.code
      ? h(
          'p',
          { class: 'coupon', part: 'coupon' },
          h('code', { part: 'code' }, coupon.code),
          h(CopyButton, {
            class: 'action',
            part: 'copy',
            style: button,
            text: coupon.code,
            copyText: t('copy'),
            copiedText: t('copied'),
          }),
        )
      : null,
    coupon && !coupon.code ? h('p', { part: 'emailed' }, t('emailed')) : null,
    coupon?.expiresAt
      ? h('p', { class: 'small', part: 'until' }, t('until', { date: dayOf(coupon.expiresAt, shop) }))
      : null,
    h(
      'button',
      { type: 'button', class: 'action', part: 'button', style: button, onClick: onClose },
      t('done'),
    ),
  ]
}
