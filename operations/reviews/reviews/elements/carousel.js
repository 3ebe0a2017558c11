// A carousel that is moved by buttons, keys, touch or a timer, and a lightbox for pictures.

import { Dialog, h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'

export const carouselTexts = {
  en: { previous: 'Previous', next: 'Next', pause: 'Stop turning', play: 'Turn by itself' },
  'pt-BR': { previous: 'Anterior', next: 'Próximo', pause: 'Parar de girar', play: 'Girar sozinho' },
  es: { previous: 'Anterior', next: 'Siguiente', pause: 'Detener', play: 'Girar solo' },
}

export const carouselCss = `
/* Its items do not make a column of the theme wider, which a min-content width would. */
.track { display: flex; gap: 16px; margin: 0; padding: 3px; list-style: none; width: 0; min-width: 100%; overflow-x: auto; scroll-snap-type: x mandatory;
  overscroll-behavior-x: contain; scrollbar-width: none; }
.track > li { flex: 0 0 max(calc((100% - (var(--per-view) - 1) * 16px) / var(--per-view)), min(100%, 260px)); min-width: 0;
  scroll-snap-align: start; }
.turns { display: flex; gap: 8px; justify-content: center; margin-block-start: 12px; }
.turns button { width: 44px; height: 44px; border: 1px solid currentColor; border-radius: 50%; background: none; line-height: 1; }
`

const prefersReducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** Styles of the lightbox. */
export const lightboxCss = `
.large { max-width: min(960px, calc(100vw - 16px)); padding: 48px 16px 16px; text-align: center; background: #111827; color: #fff; }
.large img { max-height: calc(100dvh - 160px); }
.large .pages button { width: 44px; padding: 0; border-radius: 50%; }
`

/**
 * Shows items in a row. `seconds` is the interval of the automatic rotation, null for none. The rotation pauses on hover
 * and focus. It is off if the visitor prefers reduced motion or has stopped it.
 */
export function Carousel({ items, label, perView, seconds = null, t }) {
  const track = useRef(null)
  const isPaused = useRef(false)
  const [isOver, setOver] = useState(false)
  const [isTurning, setTurning] = useState(() => seconds !== null && !prefersReducedMotion())
  const [isRtl, setRtl] = useState(false)

  const turn = (step) => {
    const { scrollLeft, scrollWidth, clientWidth, firstElementChild } = track.current
    const at = Math.abs(scrollLeft)
    const last = scrollWidth - clientWidth
    const width = firstElementChild.getBoundingClientRect().width + 16
    // Moves from the last item to the first, and the other way round.
    const to = step > 0 && at >= last - 2 ? 0 : step < 0 && at <= 2 ? last : at + step * width
    // `scrollBy` instead of `scrollTo`: some shop libraries overwrite `scrollTo`.
    track.current.scrollBy({
      left: isRtl ? at - to : to - at,
      behavior: prefersReducedMotion() ? 'auto' : 'smooth',
    })
  }

  useEffect(() => {
    const look = () => {
      setOver(track.current.scrollWidth > track.current.clientWidth + 1)
      setRtl(getComputedStyle(track.current).direction === 'rtl')
    }
    const watch = new ResizeObserver(look)
    watch.observe(track.current)
    look()
    return () => watch.disconnect()
  }, [items.length, perView])
  useEffect(() => {
    if (!isTurning || !isOver) return
    const timer = setInterval(() => {
      if (!isPaused.current && !document.hidden) turn(1)
    }, seconds * 1000)
    return () => clearInterval(timer)
  }, [isTurning, isOver, isRtl, seconds])

  const pause = () => {
    isPaused.current = true
  }
  const resume = () => {
    isPaused.current = false
  }
  const byKey = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    turn(isRtl ? -step : step)
  }
  const button = (part, text, onClick, sign) =>
    h(
      'button',
      { type: 'button', part, 'aria-label': text, onClick },
      h('span', { 'aria-hidden': 'true' }, sign),
    )
  return h(
    'div',
    {
      class: 'carousel',
      part: 'carousel',
      role: 'group',
      'aria-label': label,
      onMouseEnter: pause,
      onMouseLeave: resume,
      onFocusIn: pause,
      onFocusOut: resume,
      onTouchStart: () => setTurning(false),
    },
    h(
      'ul',
      {
        ref: track,
        class: 'track',
        part: 'track',
        tabIndex: 0,
        'aria-label': label,
        onKeyDown: byKey,
        style: { '--per-view': perView },
      },
      items.map((item) => h('li', { key: item.key }, item)),
    ),
    isOver
      ? h(
          'div',
          { class: 'turns', part: 'turns' },
          button('previous', t('previous'), () => turn(-1), '‹'),
          seconds === null
            ? null
            : button(
                'pause',
                t(isTurning ? 'pause' : 'play'),
                () => setTurning(!isTurning),
                isTurning ? '❚❚' : '▶',
              ),
          button('next', t('next'), () => turn(1), '›'),
        )
      : null,
  )
}

/** Shows the pictures of a review one by one. */
export function Lightbox({ pictures, first, name, t, onClose }) {
  const [at, setAt] = useState(first)
  const count = pictures.length
  const words = t('picture', { at: at + 1, count, name })
  const turn = (step) => setAt((at + step + count) % count)
  const button = (text, step, sign) =>
    h(
      'button',
      { type: 'button', 'aria-label': text, onClick: () => turn(step) },
      h('span', { 'aria-hidden': 'true' }, sign),
    )
  return h(
    Dialog,
    {
      class: 'large',
      label: words,
      closeText: t('close'),
      onClose,
      onKeyDown({ key }) {
        if (key === 'ArrowRight') turn(1)
        if (key === 'ArrowLeft') turn(-1)
      },
    },
    h('img', { src: pictures[at], alt: words }),
    count > 1
      ? h(
          'div',
          { class: 'pages' },
          button(t('previous'), -1, '‹'),
          h('span', { role: 'status' }, `${at + 1} / ${count}`),
          button(t('next'), 1, '›'),
        )
      : null,
  )
}
