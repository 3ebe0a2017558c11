// The popup that asks for an email or phone, as a modal, a slide-in, a bar, or full screen, and its teaser, which stays
// in a corner until the popup is opened. The event `storefront:open-popup` opens the popup.

import {
  Dialog,
  h,
  Later,
  useEffect,
  useEvent,
  useRef,
  useSheet,
  useState,
} from '../../../storefront/script/client/elements.js'
import {
  getPreviewToken,
  isDue,
  isEligible,
  readPopup,
  readRules,
  rememberShown,
  whenDue,
} from './popup-rules.js'

const corners = {
  center: 'bottom-right',
  top: 'top-center',
  bottom: 'bottom-center',
  'bottom-left': 'bottom-left',
  'bottom-right': 'bottom-right',
}

export default {
  css: `
:host { display: contents; }
dialog { width: 420px; max-width: calc(100vw - 16px); padding: 0; box-shadow: 0 8px 40px #0004; line-height: 1.45; text-align: center; }
dialog.wide { width: 720px; }
dialog::backdrop { background: var(--overlay); }
.modal.top, .slide-in.alone.top { margin-block-start: 16px; }
.modal.bottom, .modal.bottom-left, .modal.bottom-right { margin-block-end: 16px; }
.modal.bottom-left { margin-left: 16px; }
.modal.bottom-right { margin-right: 16px; }
.fullscreen { width: 100vw; max-width: none; height: 100dvh; max-height: none; margin: 0; display: flex; align-items: safe center; justify-content: center; }
.fullscreen .frame { max-width: 720px; width: 100%; }
.slide-in { position: relative; inset: auto; margin: 0; width: min(380px, calc(100vw - 32px)); flex: 0 1 auto; }
.slide-in.alone { position: fixed; inset: auto 16px 16px auto; z-index: calc(var(--storefront-layer, 9000) + 4); max-height: calc(100dvh - 32px); }
.bar { position: relative; inset: auto; margin: 0; width: 100%; max-width: none; max-height: calc(90dvh - var(--storefront-top-sticky, 0px) - var(--storefront-bottom-sticky, 0px)); border-radius: 0 !important; }
.wheel { position: relative; width: min(260px, 60vw); margin: 0 auto 8px; }
.wheel svg { display: block; width: 100%; direction: ltr; }
.wheel .disc { transition: transform cubic-bezier(.15, .7, .1, 1); transform-origin: center; transform-box: fill-box; }
.slide-in .wheel { width: 180px; }
.bar .wheel { width: 140px; margin-bottom: 0; }
.bar.alone { position: fixed; inset: auto 0 0 0; z-index: calc(var(--storefront-layer, 9000) + 4); }
.bar.alone.top { inset: 0 0 auto 0; }
.frame { position: relative; display: flex; flex-direction: column; min-height: 100%; }
.inside { padding: 24px; flex: 1; min-width: 0; position: relative; }
.image { display: block; width: 100%; max-height: 200px; object-fit: cover; }
.image-background .image { position: absolute; inset: 0; height: 100%; max-height: none; }
.logo { display: block; max-height: 56px; margin: 0 auto 12px; }
h2 { margin: 0 24px 8px; font-size: 22px; line-height: 1.25; overflow-wrap: anywhere; }
h2:focus { outline: none; }
p { margin: 0 0 12px; overflow-wrap: anywhere; }
.small { font-size: 14px; }
.action { font-weight: 600; min-height: 44px; }
.ways { display: flex; flex-wrap: wrap; gap: 8px 16px; justify-content: center; align-items: center; margin-top: 12px; }
.ways .action { flex: 1 1 100%; }
.refuse { border: 0; background: none; text-decoration: underline; padding: 4px 8px; font-size: 14px; }
.prize { font-size: 20px; font-weight: 700; }
.coupon { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; align-items: center; }
.coupon code { font: 600 20px ui-monospace, monospace; border: 2px dashed currentColor; border-radius: 6px; padding: 8px 14px; user-select: all; }
.field.floating { position: relative; text-align: start; }
.floating label { position: absolute; inset-block-start: 13px; inset-inline-start: 13px; font-size: 16px; color: #4b5563; pointer-events: none; transition: all .12s; max-width: calc(100% - 26px); overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.floating input { min-height: 50px; padding: 20px 12px 6px; font-size: 16px; }
.floating input::placeholder { opacity: 0; }
.floating:focus-within label, .floating:has(input:not(:placeholder-shown)) label { inset-block-start: 5px; font-size: 12px; }
.close { z-index: 1; }
.teaser { border: 0; padding: 10px 18px; min-height: 44px; border-radius: 22px; font-weight: 600; box-shadow: 0 2px 12px #0003; }
@media (min-width: 640px) {
  .image-left, .image-right { flex-direction: row; align-items: stretch; }
  .image-right { flex-direction: row-reverse; }
  .image-left > .image, .image-right > .image { width: 44%; max-height: none; }
  .modal .with-wheel, .fullscreen .with-wheel, .bar .with-wheel { display: grid; grid-template-columns: 280px 1fr; gap: 24px; align-items: center; }
  .image-left .with-wheel, .image-right .with-wheel { display: block; }
  .bar .with-wheel { grid-template-columns: 140px 1fr; }
  .bar .inside { padding: 16px 48px; }
  .bar .words { max-width: 1100px; margin: 0 auto; }
  .bar .image { max-height: 120px; }
  .bar .image-left > .image, .bar .image-right > .image { width: 200px; }
  .bar .fields { display: flex; gap: 8px; justify-content: center; }
  .bar .field { flex: 1 1 200px; max-width: 320px; }
  .bar .check { justify-content: center; }
  .bar .ways .action { flex: 0 0 auto; }
}
`,
  texts: { en: { close: 'Close' }, 'pt-BR': { close: 'Fechar' }, es: { close: 'Cerrar' } },
  async places(_isOn, api) {
    const rules = await readRules(api)
    if (!isEligible(rules, api)) return []
    const { layout, position, teaser } = rules
    const edge = position === 'top' ? 'top' : 'bottom'
    const spots = { 'slide-in': `corner-${corners[position]}`, bar: `edge-${edge}-fixed` }
    const corner = position === 'bottom-right' || layout === 'slide-in' ? corners[position] : 'bottom-left'
    return [
      ...(teaser ? [{ spot: `corner-${corner}`, attributes: { placement: 'teaser' } }] : []),
      { spot: spots[layout] ?? 'floating', isPassing: true },
    ]
  },
  view: Popup,
}

const loadForm = () => import('./popup-form.js')

function Popup(props) {
  const { attribute, host } = props
  const [rules, setRules] = useState(null)
  useEffect(() => {
    readRules(props).then(
      (found) => isEligible(found, props) && setRules(found),
      () => {},
    )
  }, [])
  if (!rules) return null
  const isTeaser = attribute('placement') === 'teaser'
  return [
    isTeaser ? null : h(Shown, { ...props, rules }),
    // We place two elements, one for the popup and one for the teaser. A theme places one element, which shows both.
    rules.teaser && (isTeaser || !host.placed) ? h(Teaser, { host, ...rules.teaser }) : null,
  ]
}

/**
 * Whether the element is in a corner or edge that we created. If not, because a theme placed it, the popup positions
 * itself.
 */
const isKept = ({ parentElement }) => /^(corner|edge)-/.test(parentElement?.dataset.storeSpot ?? '')

const tellAll = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }))

function Teaser({ host, text, buttonColor: background, buttonTextColor: color, fontFamily, customCss }) {
  useSheet(host, customCss)
  const [isHidden, setHidden] = useState(false)
  const wasUsed = useRef(false)
  const button = useRef(null)
  useEvent('storefront:popup', ({ state }) => setHidden(state !== 'closed'))
  useEffect(() => {
    if (wasUsed.current && !isHidden) button.current?.focus()
  }, [isHidden])
  if (isHidden) return null
  const open = () => {
    wasUsed.current = true
    tellAll('storefront:open-popup')
  }
  return h(
    'button',
    {
      ref: button,
      type: 'button',
      class: 'teaser',
      part: 'teaser',
      style: { background, color, fontFamily },
      onPointerEnter: loadForm,
      onClick: open,
    },
    text,
  )
}

function Shown({ rules, ...props }) {
  const { ask, tell, keep, t, host } = props
  const isPreview = getPreviewToken() !== null
  const [shown, setShown] = useState(null)
  const [answer, setAnswer] = useState(null)
  const isComing = useRef(false)
  const subscribed = useRef(false)
  // A won prize must be shown. Closing the popup while the wheel turns stops the wheel and shows the prize. A popup
  // that was closed before the response reopens.
  const spinning = useRef(null)
  const sending = useRef(false)
  const show = async (isUnasked) => {
    // Another tab may have shown the popup meanwhile, or the shopper may have subscribed there.
    const isUnwanted = () => isUnasked && !(isEligible(rules, props) && isDue(rules.display, props))
    if (shown || isComing.current || isUnwanted()) return
    isComing.current = true
    window.storefront.isPopupAsked = false
    try {
      const [popup, form] = await Promise.all([readPopup(ask), loadForm()])
      // The popup may have been turned off since the page was loaded.
      if (!popup.enabled || isUnwanted()) return
      if (!isPreview) rememberShown(props)
      setShown({ popup, isUnasked, form })
      tellAll('storefront:popup', { state: 'open' })
    } catch (error) {
      console.warn('storefront: store-popup:', error?.message)
    } finally {
      isComing.current = false
    }
  }
  useEvent('storefront:open-popup', () => show(false))
  useEffect(() => {
    // The theme may have asked before this module was loaded.
    if (isPreview || window.storefront.isPopupAsked) show(false)
    else if (isDue(rules.display, props)) return whenDue(rules.display, () => show(true))
  }, [])
  useSheet(host, shown?.popup.settings.design.customCss)
  if (!shown) return null
  const { popup, form } = shown
  const { layout, position, design, texts, roulette } = popup.settings
  const onClose = () => {
    if (spinning.current) return spinning.current()
    setShown(null)
    // A shopper who subscribed did not dismiss the popup, so no `close` is counted.
    if (!isPreview && !subscribed.current && !sending.current) tell('close', 'newsletter')
    tellAll('storefront:popup', { state: subscribed.current ? 'subscribed' : 'closed' })
  }
  const onSubscribed = (given) => {
    subscribed.current = true
    setAnswer(given)
    setShown(shown)
    if (isPreview) return
    keep.write('subscribed', '1')
    tellAll('storefront:subscribed', given)
  }
  const isWide =
    (roulette.enabled || (design.imageUrl && ['left', 'right'].includes(design.imagePosition))) &&
    layout === 'modal'
  return h(
    Dialog,
    {
      label: texts.title,
      closeText: t('close'),
      onClose,
      isBeside: layout === 'slide-in' || layout === 'bar',
      isUnasked: shown.isUnasked,
      // Merchants use these class names in their CSS.
      class: `storefront-popup ${layout} ${position}${isWide ? ' wide' : ''}${isKept(host) ? '' : ' alone'}`,
      style: {
        background: design.backgroundColor,
        color: design.textColor,
        borderRadius: layout === 'fullscreen' ? 0 : `${design.borderRadius}px`,
        fontFamily: design.fontFamily ?? 'inherit',
        '--overlay': design.overlayColor,
      },
    },
    shown.isUnasked ? h('p', { class: 'hidden', role: 'status' }, texts.title) : null,
    h(Later, {
      ...{ ...props, popup, isPreview, answer, onSubscribed, onClose, spinning, sending },
      load: async () => form,
    }),
  )
}
