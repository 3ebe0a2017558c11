// A video. It plays by itself only while it is muted and in view, and only if the shopper does not prefer reduced motion.

import { h, useEffect, useRef, useState } from '../../../storefront/script/client/elements.js'
import { Icon } from '../../../storefront/script/client/icons.js'

/**
 * `isChosen` is true if the shopper opened the video, so that it starts. `isPreview` is true for a small video that opens a
 * large one when clicked; it is muted and has only a pause button.
 */
export function Video({ video, data, t, isChosen, isPreview, onChosen, onBroken }) {
  const { videoUrl, posterUrl, name } = video
  const player = useRef(null)
  const [isPlaying, setPlaying] = useState(false)
  const [isMuted, setMuted] = useState(isPreview || data.muted)
  const [hasPoster, setPoster] = useState(posterUrl !== null)
  const [isBroken, setBroken] = useState(false)
  const begins = data.autoplay || isChosen
  const hasControls = data.showControls && !isPreview
  useInView(player, (isIn, current) => {
    if (!isIn) return stop(current)
    const isStill = !isChosen && matchMedia('(prefers-reduced-motion: reduce)').matches
    if (begins && !isStill && current.dataset.stopped === undefined) start(current)
  })
  useEffect(() => {
    if (isBroken && !hasPoster) onBroken(video)
  }, [isBroken, hasPoster])
  const toggle = () =>
    (player.current.paused ? player.current.play() : player.current.pause())?.catch(() => {})
  // `play` and `pause` events arrive with a delay. An event that no longer matches the state of the video is ignored.
  const onPlay = ({ target: { dataset, paused } }) => {
    setPlaying(!paused)
    if (paused || dataset.asked === 'play') return
    dataset.asked = 'play'
    delete dataset.stopped
    if (!isChosen && !isPreview) onChosen(video)
  }
  const onPause = ({ target: { dataset, paused, ended } }) => {
    setPlaying(!paused)
    if (!paused || dataset.asked !== 'play') return
    dataset.asked = 'pause'
    // Remembers that the shopper stopped the video, so that it does not start again by itself.
    if (!ended) dataset.stopped = ''
  }
  const tool = (icon, label, onClick) =>
    h(
      'button',
      { type: 'button', class: 'round', part: 'tool', 'aria-label': label, onClick },
      h(Icon, { name: icon, size: 18 }),
    )
  return h(
    'div',
    { class: 'frame', part: 'frame' },
    hasPoster
      ? h('img', {
          class: 'poster',
          src: posterUrl,
          alt: isBroken ? name : '',
          loading: 'lazy',
          onError: () => setPoster(false),
        })
      : null,
    isBroken
      ? null
      : h('video', {
          ref: player,
          src: videoUrl,
          preload: begins || !hasPoster ? 'metadata' : 'none',
          'aria-label': name,
          muted: isMuted,
          loop: data.loop,
          controls: hasControls,
          playsInline: true,
          tabIndex: isPreview ? -1 : undefined,
          onPlay,
          onPause,
          onVolumeChange: ({ target }) => setMuted(target.muted),
          onError: () => setBroken(true),
        }),
    isBroken || hasControls
      ? null
      : h(
          'div',
          { class: 'tools' },
          isPlaying && !isMuted ? tool('sound', t('mute'), () => setMuted(true)) : null,
          isPlaying && isMuted && !isPreview ? tool('muted', t('unmute'), () => setMuted(false)) : null,
          tool(isPlaying ? 'pause' : 'play', t(isPlaying ? 'pause' : 'play', { title: name }), toggle),
        ),
  )
}

/**
 * Starts a video and records in `dataset.asked` what we asked for. If the video's state differs from that, the shopper has
 * started or paused it, with our buttons or the browser's.
 */
function start(video) {
  if (!video.paused) return
  video.dataset.asked = 'play'
  // The browser has blocked autoplay; the shopper can use the play button. `AbortError` means that the video was paused
  // meanwhile, which its own event reports.
  video.play()?.catch(({ name }) => {
    if (name !== 'AbortError') video.dataset.asked = 'pause'
  })
}

function stop(video) {
  if (video.paused) return
  video.dataset.asked = 'pause'
  video.pause()
}

function useInView(ref, onChange) {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    const { current } = ref
    if (!current) return
    const watch = new IntersectionObserver(
      (entries) => latest.current(entries.at(-1).intersectionRatio >= 0.6, current),
      {
        threshold: 0.6,
      },
    )
    watch.observe(current)
    return () => {
      watch.disconnect()
      stop(current)
    }
  }, [])
}
