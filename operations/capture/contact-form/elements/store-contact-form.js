// The contact form: inline if a theme placed it, otherwise opened by a button in a corner.

import { Dialog, h, Later, useState } from '../../../storefront/script/client/elements.js'

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
    en: { open: 'Contact', close: 'Close' },
    'pt-BR': { open: 'Contato', close: 'Fechar' },
    es: { open: 'Contacto', close: 'Cerrar' },
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

const loadFields = () => import('./contact-fields.js')

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
  const fields = { ...props, settings, load: loadFields }
  if (attribute('placement') !== 'floating')
    return h('section', { class: 'in-place', part: 'form', style: look }, h(Later, fields))
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
        onPointerEnter: loadFields,
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
          h(Later, { ...fields, onClose: close }, title ? h('h2', { part: 'title' }, title) : null),
        )
      : null,
  ]
}
