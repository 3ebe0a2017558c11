// Shows the videos of a product or of the home page as a carousel, as stories, or floating in a corner.

import {
  Dialog,
  h,
  hideBroken,
  money,
  useEffect,
  useRef,
  useSeen,
  useState,
} from '../../../storefront/script/client/elements.js'
import { Icon } from '../../../storefront/script/client/icons.js'
import { Video } from './video.js'

export default {
  css: `
:host { display: block; }
section { margin: 16px 0; position: relative; }
h2 { margin: 0 0 8px; font-size: 1.25em; min-height: 36px; padding-inline-end: 88px; }
/* Its videos do not make a column of the theme wider, which a min-content width would. */
ul { display: flex; gap: 12px; margin: 0; padding: 4px; list-style: none; width: 0; min-width: 100%; overflow-x: auto; scroll-snap-type: x mandatory;
  scroll-behavior: smooth; }
li { flex: none; scroll-snap-align: start; min-width: 0; }
.carousel li { width: min(220px, 62vw); }
.frame { position: relative; aspect-ratio: 9 / 16; border-radius: 12px; overflow: hidden; background: #111827; }
.frame :is(video, .poster) { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.frame video { z-index: 1; background: none; }
.tools { position: absolute; z-index: 2; inset-block-end: 8px; inset-inline-end: 8px; display: flex; gap: 6px; }
.round { display: grid; place-items: center; width: 36px; height: 36px; padding: 0; border: 0; border-radius: 50%;
  background: rgb(17 24 39 / .8); color: #fff; }
.caption { margin: 6px 0 0; font-weight: 600; overflow-wrap: anywhere; }
.product { display: flex; gap: 8px; align-items: center; margin-top: 6px; min-height: 44px; text-decoration: none; overflow-wrap: anywhere; }
.product img { width: 44px; height: 44px; object-fit: cover; border-radius: 6px; flex: none; }
.product span { display: block; }
.product .price { font-weight: 600; }
.moves { position: absolute; inset-block-start: 0; inset-inline-end: 0; display: flex; gap: 8px; }
.moves .round:disabled { opacity: .4; cursor: default; }
.moves .round:dir(rtl) svg, .turns .round:dir(rtl) svg { transform: scaleX(-1); }
.untitled .moves { position: static; justify-content: flex-end; margin-bottom: 4px; }
.story { display: grid; gap: 4px; justify-items: center; width: 84px; padding: 0; border: 0; background: none; font-size: 13px; }
.story .ring { position: relative; width: 76px; height: 76px; padding: 3px; border: 2px solid #c026d3; border-radius: 50%; overflow: hidden;
  display: grid; place-items: center; }
.story .inside { position: relative; width: 100%; height: 100%; border-radius: 50%; overflow: hidden; background: #111827; color: #fff;
  display: grid; place-items: center; }
.story img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.story.was .ring { border-color: #9ca3af; }
.story .name { max-width: 100%; overflow-wrap: anywhere; }
dialog { padding: 48px 16px 16px; border-radius: 12px; width: min(400px, calc(100vw - 16px)); background: #fff; color: #111827; }
dialog::backdrop { background: rgb(0 0 0 / .7); }
dialog .frame { height: min(68dvh, 640px); width: 100%; aspect-ratio: auto; }
dialog .turns { display: flex; justify-content: space-between; align-items: center; margin-top: 8px; }
.floating { position: relative; width: 112px; margin: 0; }
.floating .frame { width: 112px; box-shadow: 0 4px 16px rgb(0 0 0 / .3); }
.floating .open { position: absolute; z-index: 2; inset: 0; border: 0; background: none; color: #fff; border-radius: 12px; }
.floating .away { position: absolute; z-index: 3; inset-block-start: 4px; inset-inline-end: 4px; width: 28px; height: 28px; }
.floating .tools { z-index: 3; inset-block-end: 4px; inset-inline-end: 4px; }
.floating .tools .round { width: 28px; height: 28px; }
`,
  texts: {
    en: {
      videos: 'Videos',
      video: 'Video {{number}}',
      play: 'Play {{title}}',
      pause: 'Pause {{title}}',
      mute: 'Sound off',
      unmute: 'Sound on',
      open: 'Watch {{title}}',
      close: 'Close',
      next: 'Next',
      previous: 'Previous',
      position: '{{number}} of {{count}}',
    },
    'pt-BR': {
      videos: 'Vídeos',
      video: 'Vídeo {{number}}',
      play: 'Reproduzir {{title}}',
      pause: 'Pausar {{title}}',
      mute: 'Desligar o som',
      unmute: 'Ligar o som',
      open: 'Assistir: {{title}}',
      close: 'Fechar',
      next: 'Próximo',
      previous: 'Anterior',
      position: '{{number}} de {{count}}',
    },
    es: {
      videos: 'Videos',
      video: 'Video {{number}}',
      play: 'Reproducir {{title}}',
      pause: 'Pausar {{title}}',
      mute: 'Desactivar el sonido',
      unmute: 'Activar el sonido',
      open: 'Ver: {{title}}',
      close: 'Cerrar',
      next: 'Siguiente',
      previous: 'Anterior',
      position: '{{number}} de {{count}}',
    },
  },
  places: ({ layout, placement }) => [
    { spot: layout === 'floating' ? 'corner-bottom-left' : (homeSpots[placement] ?? placement) },
  ],
  view: Slider,
}

const homeSpots = { top: 'page-top', middle: 'page-middle', bottom: 'page-bottom' }
const layouts = { carousel: Carousel, stories: Stories, floating: Floating }

function Slider({ data, ...context }) {
  const { t, tell, attribute, productId } = context
  const [broken, setBroken] = useState([])
  const product = attribute('product-id') ?? productId
  const about = (video) => {
    const its = video?.product?.productId ?? product
    return { resourceId: data.id, ...(its ? { productId: its } : {}) }
  }
  const ref = useSeen(() => tell('impression', 'video-slider', about(null)), [data.id])
  const videos = data.videos
    .map((video, at) => ({ ...video, at, name: video.title ?? t('video', { number: String(at + 1) }) }))
    .filter(({ at }) => !broken.includes(at))
  if (videos.length === 0) return null
  return h(layouts[data.layout], {
    ...context,
    boxRef: ref,
    data,
    videos,
    onChosen: (video) => tell('click', 'video-slider', about(video)),
    onBroken: ({ at }) => setBroken((before) => [...before, at]),
  })
}

const Titled = ({ boxRef, data, t, layout, children }) =>
  h(
    'section',
    {
      ref: boxRef,
      part: `slider ${layout}`,
      class: `${layout}${data.title ? '' : ' untitled'}`,
      'aria-label': data.title ?? t('videos'),
    },
    data.title ? h('h2', { part: 'title' }, data.title) : null,
    children,
  )

function Carousel(props) {
  const { videos, t } = props
  const list = useRef(null)
  const { canMove, look, move } = useMoves(list, videos.length)
  const button = (name, way) =>
    h(
      'button',
      {
        type: 'button',
        class: 'round',
        part: name,
        'aria-label': t(name),
        disabled: !canMove[name],
        onClick: () => move(way),
      },
      h(Icon, { name, size: 20 }),
    )
  return h(
    Titled,
    { ...props, layout: 'carousel' },
    canMove.next || canMove.previous
      ? h('div', { class: 'moves' }, button('previous', -1), button('next', 1))
      : null,
    h(
      'ul',
      { ref: list, role: 'list', onScroll: look },
      videos.map((video) =>
        h(
          'li',
          { key: video.at, part: 'item' },
          h(Video, { ...props, video }),
          h(Caption, { ...props, video }),
        ),
      ),
    ),
  )
}

/**
 * Whether the list can scroll to the next and previous videos, and a function that scrolls it. Supports right-to-left
 * text.
 */
function useMoves(list, count) {
  const [canMove, setCanMove] = useState({ next: false, previous: false })
  const look = () => {
    // The list is not rendered if none of its videos could be loaded.
    if (!list.current) return
    const { scrollLeft, clientWidth, scrollWidth } = list.current
    const at = Math.abs(scrollLeft)
    const now = { previous: at > 4, next: at + clientWidth < scrollWidth - 4 }
    setCanMove((before) => (before.next === now.next && before.previous === now.previous ? before : now))
  }
  useEffect(() => {
    const watch = new ResizeObserver(look)
    watch.observe(list.current)
    return () => watch.disconnect()
  }, [count])
  const move = (way) => {
    const sign = getComputedStyle(list.current).direction === 'rtl' ? -1 : 1
    list.current.scrollBy({ left: sign * way * list.current.clientWidth * 0.8 })
  }
  return { canMove, look, move }
}

/** The title of a video, and the product that the video links to. */
function Caption({ video: { title, product, ...video }, shop, onChosen }) {
  return [
    title ? h('p', { class: 'caption', part: 'caption' }, title) : null,
    product
      ? h(
          'a',
          {
            class: 'product',
            part: 'product',
            href: product.url,
            onClick: () => onChosen({ ...video, product }),
          },
          product.imageUrl
            ? h('img', { src: product.imageUrl, alt: '', loading: 'lazy', onError: hideBroken })
            : null,
          h(
            'span',
            null,
            h('span', null, product.name),
            h('span', { class: 'price' }, money(product.price, { ...shop, currency: product.currency })),
          ),
        )
      : null,
  ]
}

function Stories(props) {
  const { videos, t, onChosen } = props
  const [open, setOpen] = useState(null)
  const [seen, setSeen] = useState([])
  const show = (video) => {
    onChosen(video)
    setSeen((before) => [...before, video.at])
    setOpen(video.at)
  }
  return h(
    Titled,
    { ...props, layout: 'stories' },
    h(
      'ul',
      { role: 'list' },
      videos.map((video) =>
        h(
          'li',
          { key: video.at, part: 'item' },
          h(
            'button',
            {
              type: 'button',
              class: `story${seen.includes(video.at) ? ' was' : ''}`,
              part: 'story',
              'aria-label': t('open', { title: video.name }),
              onClick: () => show(video),
            },
            h(
              'span',
              { class: 'ring' },
              h(
                'span',
                { class: 'inside' },
                h(Icon, { name: 'play', size: 28 }),
                video.posterUrl
                  ? h('img', { src: video.posterUrl, alt: '', loading: 'lazy', onError: hideBroken })
                  : null,
              ),
            ),
            video.title ? h('span', { class: 'name' }, video.title) : null,
          ),
        ),
      ),
    ),
    open === null ? null : h(Player, { ...props, open, onMove: setOpen, onClose: () => setOpen(null) }),
  )
}

/** One large video with previous and next buttons. */
function Player({ open, onMove, onClose, ...props }) {
  const { videos, t, data } = props
  const place = videos.findIndex(({ at }) => at === open)
  const video = videos[place]
  useEffect(() => {
    if (!video) onClose()
  }, [video])
  if (!video) return null
  const button = (name, to) =>
    h(
      'button',
      {
        type: 'button',
        class: 'round',
        part: name,
        'aria-label': t(name),
        disabled: !videos[to],
        onClick: () => onMove(videos[to].at),
      },
      h(Icon, { name, size: 20 }),
    )
  return h(
    Dialog,
    { label: data.title ?? t('videos'), closeText: t('close'), onClose },
    h(Video, { ...props, key: video.at, video, isChosen: true }),
    h(Caption, { ...props, video }),
    videos.length > 1
      ? h(
          'div',
          { class: 'turns' },
          button('previous', place - 1),
          h(
            'span',
            { role: 'status' },
            t('position', { number: String(place + 1), count: String(videos.length) }),
          ),
          button('next', place + 1),
        )
      : null,
  )
}

function Floating(props) {
  const { boxRef, data, videos, t, session, onChosen } = props
  const [isClosed, setClosed] = useState(session.read(`video.${data.id}`) !== null)
  const [open, setOpen] = useState(null)
  if (isClosed) return null
  const [video] = videos
  const close = () => {
    session.write(`video.${data.id}`, '1')
    setClosed(true)
  }
  return h(
    'section',
    { ref: boxRef, class: 'floating', part: 'slider floating', 'aria-label': data.title ?? t('videos') },
    open === null ? h(Video, { ...props, video, isPreview: true }) : h('div', { class: 'frame' }),
    h('button', {
      type: 'button',
      class: 'open',
      part: 'open',
      'aria-label': t('open', { title: data.title ?? video.name }),
      onClick() {
        onChosen(video)
        setOpen(video.at)
      },
    }),
    h(
      'button',
      { type: 'button', class: 'away round', part: 'close', 'aria-label': t('close'), onClick: close },
      '✕',
    ),
    open === null ? null : h(Player, { ...props, open, onMove: setOpen, onClose: () => setOpen(null) }),
  )
}
