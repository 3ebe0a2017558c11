// Button banner: message, call, copy a coupon, open a link.

// Actions are flex boxes, which lay out icon and label in the page's direction, whatever the label's own is.
import { h, useEffect, useState } from '../../storefront/script/client/elements.js'
import { Icon } from '../../storefront/script/client/icons.js'
import { hasScrolled, watchScroll } from '../../storefront/script/client/layers.js'
import { Bar, barCss, barPlaces, barTexts } from './bar.js'

export default {
  css: `${barCss}
.action { display: inline-flex; align-items: center; justify-content: center; gap: 6px; vertical-align: middle; padding: 8px 14px; margin: 2px 4px; min-height: 36px; text-decoration: none !important; }
.action svg { flex: none; }
`,
  texts: {
    en: { ...barTexts.en, label: 'Quick actions', copied: 'Copied: {{code}}' },
    'pt-BR': { ...barTexts['pt-BR'], label: 'Atalhos', copied: 'Copiado: {{code}}' },
    es: { ...barTexts.es, label: 'Accesos rápidos', copied: 'Copiado: {{code}}' },
  },
  places: barPlaces,
  view: Actions,
}

function Actions({ data, t, ...others }) {
  const isFarEnough = useScrolled(data.showAfterScrollPercent)
  const [notice, setNotice] = useState('')
  if (!isFarEnough) return null
  const act = async ({ type, target }) => {
    if (type !== 'coupon') return scrollTo({ top: 0, behavior: 'smooth' })
    try {
      await navigator.clipboard.writeText(target)
      setNotice(t('copied', { code: target }))
    } catch {
      // There is no clipboard without https, so the code is shown instead.
      setNotice(target)
    }
  }
  return h(
    Bar,
    {
      ...others,
      data,
      t,
      name: 'actions',
      content: { text: data.text, actions: data.actions },
      label: t('label'),
    },
    data.text ? h('span', { style: { marginInlineEnd: '12px' } }, data.text) : null,
    data.actions.map((action) => {
      const { url, label, icon, backgroundColor: background, textColor: color } = action
      const words = [icon ? h(Icon, { name: icon, size: 18 }) : null, label]
      const props = { class: 'action', part: 'action', style: { background, color } }
      return url
        ? h('a', { ...props, href: url }, words)
        : h('button', { ...props, type: 'button', onClick: () => act(action) }, words)
    }),
    h('span', { role: 'status' }, notice),
  )
}

function useScrolled(percent) {
  const [reached, setReached] = useState(() => hasScrolled(percent))
  useEffect(() => watchScroll(() => setReached(hasScrolled(percent))), [percent])
  return reached
}
