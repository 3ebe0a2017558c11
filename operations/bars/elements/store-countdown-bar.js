// Announcements that take turns, and the time that is left.

import { filled, h, useEffect, useState } from '../../storefront/script/client/elements.js'
import { Bar, barCss, barPlaces, barTexts } from './bar.js'

export default {
  css: `${barCss}
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

function Countdown({ data, keep, t, ...others }) {
  const { announcements, rotationSeconds, linkUrl, countdown } = data
  const turn = useTurns(announcements.length, rotationSeconds)
  const [ends] = useState(() => endOf(countdown, keep))
  const left = useSecondsTo(ends)
  const shown = announcements[turn]
  const url = shown?.linkUrl ?? linkUrl
  return h(
    Bar,
    { ...others, data, keep, t, name: 'countdown', label: t('label') },
    shown
      ? url
        ? h('a', { href: url, part: 'announcement' }, shown.text)
        : h('span', { part: 'announcement' }, shown.text)
      : null,
    // Read once by who listens, and not each second.
    countdown
      ? h(
          'strong',
          { class: 'clock', part: 'clock', 'aria-live': 'off', style: { color: data.timerColor } },
          clockText(countdown, left),
        )
      : null,
  )
}

function useTurns(count, seconds) {
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (count < 2) return
    const timer = setInterval(() => setTurn((now) => (now + 1) % count), seconds * 1000)
    return () => clearInterval(timer)
  }, [count, seconds])
  return turn
}

function useSecondsTo(ends) {
  const secondsLeft = () => (ends === null ? null : Math.floor((ends - Date.now()) / 1000))
  const [left, setLeft] = useState(secondsLeft)
  useEffect(() => {
    if (ends === null) return
    const timer = setInterval(() => {
      const now = secondsLeft()
      setLeft(now)
      if (now < 0) clearInterval(timer)
    }, 1000)
    return () => clearInterval(timer)
  }, [ends])
  return left
}

function endOf(countdown, keep) {
  if (!countdown) return null
  if (countdown.type !== 'evergreen') return Date.parse(countdown.endsAt)
  const { durationMinutes, restartAfterHours } = countdown
  const began = Number(keep.read('evergreen') || 0)
  const ends = began + durationMinutes * 60_000
  const isOver = restartAfterHours !== null && Date.now() >= ends + restartAfterHours * 3_600_000
  if (began && !isOver) return ends
  keep.write('evergreen', String(Date.now()))
  return Date.now() + durationMinutes * 60_000
}

function clockText({ text, afterEnd, endedText }, left) {
  if (left < 0) return afterEnd === 'text' ? endedText : ''
  const two = (number) => String(number).padStart(2, '0')
  const parts = [Math.floor(left / 3600), Math.floor((left % 3600) / 60), left % 60]
  return filled(text, { countdown: parts.map(two).join(':') })
}
