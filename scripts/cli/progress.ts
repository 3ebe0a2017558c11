/** Shows the progress of long work on standard error: a bar in a terminal, a line every ten seconds elsewhere. */
import { getWidth, type Output, truncate } from './terminal.ts'

export interface Progress {
  /**
   * Starts a part of the work. `all`: the total amount; 0 if unknown. With a `unit` such as `rows`, the rate is shown.
   */
  begin(title: string, all: number, unit?: string): void
  /** Reports the amount that is done, and the current step. */
  at(done: number, doing?: string): void
  /** Removes the bar. */
  end(): void
}

export const noProgress: Progress = { begin() {}, at() {}, end() {} }

const barWidth = 24
/** Created on first use, because it slows down the start. */
const formatNumber = (number: number): string =>
  new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }).format(number)

export function showProgress(output: Output): Progress {
  const width = getWidth(output)
  let part = { title: '', all: 0, unit: '', startedAt: 0 }
  let done = 0
  let doing = ''
  let changedAt = 0
  let shownAt = 0
  let timer: NodeJS.Timeout | null = null

  const buildLine = (): string => {
    const elapsedMs = performance.now() - part.startedAt
    if (part.all === 0)
      return [part.title, `${formatDuration(elapsedMs)} so far`, doing].filter(Boolean).join('  ')
    const share = Math.min(1, done / part.all)
    const workedMs = changedAt - part.startedAt
    const rate = workedMs > 0 ? done / (workedMs / 1000) : 0
    const filled = Math.round(share * barWidth)
    const leftMs = share > 0 ? Math.max(0, workedMs / share - elapsedMs) : null
    const parts = [
      part.title,
      ...(width === null ? [] : ['█'.repeat(filled) + '░'.repeat(barWidth - filled)]),
      `${Math.floor(share * 100)}%`.padStart(4),
      ...(part.unit && rate > 0 ? [`${formatNumber(rate)} ${part.unit}/s`] : []),
      ...(leftMs === null ? [] : [`${formatDuration(leftMs)} left`]),
      ...(doing ? [doing] : []),
    ]
    return parts.join('  ')
  }
  const show = (): void => {
    shownAt = performance.now()
    output.write(width === null ? `${buildLine()}\n` : `\r${truncate(buildLine(), width - 1)}\x1b[K`)
  }
  return {
    begin(title, all, unit = '') {
      part = { title, all, unit, startedAt: performance.now() }
      ;[done, doing, changedAt] = [0, '', part.startedAt]
      timer ??= setInterval(show, width === null ? 10_000 : 500).unref()
      if (width !== null) show()
    },
    at(amount, now = '') {
      ;[done, doing, changedAt] = [amount, now, performance.now()]
      // Synchronous work in this process may block the timer.
      if (width !== null && changedAt - shownAt >= 100) show()
    },
    end() {
      if (timer === null) return
      clearInterval(timer)
      timer = null
      if (width !== null) output.write('\r\x1b[K')
    },
  }
}

/** `0:07`, `1:02:03`. */
function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((each, n) => (n === 0 ? String(each) : String(each).padStart(2, '0'))).join(':')
}
