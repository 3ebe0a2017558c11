// The countdown banner: rotating announcements and a countdown.

import { filled, h, msOf, useEffect, useState } from '../../storefront/script/client/elements.js'
import { Bar, barCss, barPlaces, barTexts } from './bar.js'

export default {
  css: `${barCss}
/* As high as the longest announcement, so that rotation does not shift the page. */
.announcements { display: inline-grid; align-items: center; vertical-align: middle; overflow: hidden; max-width: 100%; }
.announcement { grid-area: 1 / 1; visibility: hidden; padding-block: 2px; }
.now { visibility: visible; }
.turned.slide { animation: slide .35s; }
.turned.fade { animation: fade .35s; }
@keyframes slide { from { transform: translateY(100%); } }
@keyframes fade { from { opacity: 0; } }
.clock { margin-inline-start: 8px; font-variant-numeric: tabular-nums; }
`,
  texts: {
    en: { ...barTexts.en, label: 'Announcements' },
    'pt-BR': { ...barTexts['pt-BR'], label: 'Avisos' },
    es: { ...barTexts.es, label: 'Avisos' },
  },
  places: barPlaces,
  view: Countdown,
}

function Countdown({ data, keep, serverNow, t, ...others }) {
  const { announcements, rotationSeconds, animation, linkUrl, countdown } = data
  const index = useRotation(announcements.length, rotationSeconds)
  const [ends] = useState(() => findEnd(countdown, keep, serverNow()))
  const secondsLeft = useSecondsTo(ends, serverNow)
  return h(
    Bar,
    { ...others, data, keep, t, name: 'countdown', content: { announcements, countdown }, label: t('label') },
    h(
      'span',
      { class: 'announcements' },
      announcements.map(({ text, linkUrl: own }, at) => {
        const href = own ?? linkUrl
        const state =
          at !== index % announcements.length ? '' : index === 0 ? 'now' : `now turned ${animation}`
        const props = { key: at, part: 'announcement', class: `announcement ${state}` }
        return href ? h('a', { ...props, href }, text) : h('span', props, text)
      }),
    ),
    // Not a live region: screen readers would announce every second.
    countdown
      ? h(
          'strong',
          { class: 'clock', part: 'clock', 'aria-live': 'off', style: { color: data.timerColor } },
          formatClock(countdown, secondsLeft),
        )
      : null,
  )
}

function useRotation(count, seconds) {
  const [index, setIndex] = useState(0)
  useEffect(() => {
    if (count < 2) return
    const timer = setInterval(() => setIndex((now) => now + 1), seconds * 1000)
    return () => clearInterval(timer)
  }, [count, seconds])
  return index
}

function useSecondsTo(ends, serverNow) {
  const countSeconds = () => (ends === null ? null : Math.floor((ends - serverNow()) / 1000))
  const [secondsLeft, setSecondsLeft] = useState(countSeconds)
  useEffect(() => {
    if (ends === null) return
    const timer = setInterval(() => {
      const now = countSeconds()
      setSecondsLeft(now)
      if (now < 0) clearInterval(timer)
    }, 1000)
    return () => clearInterval(timer)
  }, [ends])
  return secondsLeft
}

/** The end in the server's time, because the device's clock may be wrong. */
function findEnd(countdown, keep, now) {
  if (!countdown) return null
  if (countdown.type !== 'evergreen') return msOf(countdown.endsAt)
  const { durationMinutes, restartAfterHours } = countdown
  // An earlier version stored the device's time, which may be ahead.
  const began = Math.min(Number(keep.read('evergreen') || 0), now)
  const ends = began + durationMinutes * 60_000
  const isOver = restartAfterHours !== null && now >= ends + restartAfterHours * 3_600_000
  if (began && !isOver) return ends
  keep.write('evergreen', String(now))
  return now + durationMinutes * 60_000
}

function formatClock({ text, afterEnd, endedText }, secondsLeft) {
  if (secondsLeft < 0) return afterEnd === 'text' ? endedText : ''
  const two = (number) => String(number).padStart(2, '0')
  const parts = [Math.floor(secondsLeft / 3600), Math.floor((secondsLeft % 3600) / 60), secondsLeft % 60]
  return filled(text, { countdown: parts.map(two).join(':') })
}
