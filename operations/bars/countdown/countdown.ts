/** The countdown banner with its countdown and announcements: its settings and its widget. */
import type { Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { mergeChange } from '#runtime/values/changes'
import { barSettings } from '../bar-settings.ts'
import {
  type CountdownContent,
  countdownBar,
  type countdownInput,
  countdownWords,
  defaultCountdown,
} from './schema.ts'
import { type CountdownState, computeState, findRun, type Run } from './times.ts'

/** Settings of the countdown banner, validated as a whole after merging. Refuses inconsistent settings. */
export const countdownSettings = barSettings('countdown', {
  defaults: defaultCountdown,
  words: countdownWords,
  schema: countdownBar,
  merge(_ctx, before, change: z.infer<typeof countdownInput>) {
    return mergeChange(before, change)
  },
  check: validateCountdown,
  answerFields(ctx, content) {
    const { state, run } = findRunState(ctx, content)
    return { countdown: { ...content.countdown, state, ...toInstants(run) } }
  },
})

const toInstants = ({ startsAt, endsAt }: Run) => ({
  startsAt: startsAt?.toISOString() ?? null,
  endsAt: endsAt?.toISOString() ?? null,
})

function findRunState(ctx: Context, content: CountdownContent): { state: CountdownState; run: Run } {
  const { countdown } = content
  const run = findRun(countdown, getTimeZone(ctx, content), ctx.now())
  const isOn = content.isEnabled && countdown.isEnabled
  return { run, state: computeState(countdown, run, isOn, ctx.now()) }
}

const getTimeZone = (ctx: Context, { countdown }: CountdownContent): string =>
  countdown.timezone ?? ctx.store.timezone

function validateCountdown(ctx: Context, after: CountdownContent, before: CountdownContent): void {
  const { countdown } = after
  if (after.isEnabled && !countdown.isEnabled && !after.announcements.some((each) => each.isEnabled)) {
    throw refuse(
      'bad_request',
      'isEnabled: the bar needs a countdown that is on, or an announcement that is on',
    )
  }
  if (countdown.afterEnd === 'text' && countdown.endedText === null) {
    throw refuse('bad_request', 'countdown.endedText: is needed where afterEnd is text')
  }
  if (countdown.type !== 'fixed') return
  if (countdown.isEnabled && countdown.endLocal === null) {
    throw refuse('bad_request', 'countdown.endLocal: is needed by a fixed countdown that is on')
  }
  const { startsAt, endsAt } = findRun(countdown, getTimeZone(ctx, after), ctx.now())
  if (startsAt && endsAt && startsAt >= endsAt) {
    throw refuse('bad_request', 'countdown.startLocal: must be before endLocal')
  }
  if (endsAt && endsAt <= ctx.now() && hasNewEnd(ctx, before, after)) {
    throw refuse('bad_request', 'countdown.endLocal: is in the past already')
  }
}

/**
 * Whether a change gives the countdown a new end or turns it on again. Such a change is refused if the end is in the
 * past; other changes may keep a past end.
 */
function hasNewEnd(ctx: Context, before: CountdownContent, after: CountdownContent): boolean {
  const [was, is] = [before.countdown, after.countdown]
  return (
    was.type !== is.type ||
    was.endLocal !== is.endLocal ||
    getTimeZone(ctx, before) !== getTimeZone(ctx, after) ||
    (!was.isEnabled && is.isEnabled) ||
    (!before.isEnabled && after.isEnabled && is.isEnabled)
  )
}

/** Builds the widget. `until` is when the countdown starts or ends, so that the storefront refreshes then. */
export async function buildCountdownWidget(ctx: Context): Promise<Widget | null> {
  const content = await countdownSettings.getForShoppers(ctx)
  if (!content.isEnabled) return null
  const { isEnabled: _on, countdown, announcements, ...shown } = content
  const { state, run } = findRunState(ctx, content)
  const until = state === 'scheduled' ? run.startsAt : state === 'running' ? run.endsAt : null
  const visibleAnnouncements = announcements
    .filter((each) => each.isEnabled)
    .map(({ text, linkUrl }) => ({ text, linkUrl }))
  const isShown = state === 'running' || (state === 'ended' && countdown.afterEnd === 'text')
  if (!isShown && visibleAnnouncements.length === 0) return { value: null, until }
  const value = {
    ...shown,
    announcements: visibleAnnouncements,
    countdown: isShown ? toWidgetCountdown(countdown, run, state) : null,
  }
  return { value, until }
}

function toWidgetCountdown(countdown: CountdownContent['countdown'], run: Run, state: CountdownState) {
  const { type, text, afterEnd, endedText, durationMinutes, restartAfterHours } = countdown
  return {
    ...{ type, state, text, afterEnd, endedText },
    ...toInstants(run),
    ...(type === 'evergreen' ? { durationMinutes, restartAfterHours } : {}),
  }
}
