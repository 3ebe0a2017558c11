/** The bar with a countdown and announcements. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { barSettings } from '../bar-settings.ts'
import {
  type CountdownContent,
  countdownBar,
  type countdownInput,
  countdownWords,
  defaultCountdown,
} from './schema.ts'
import { type CountdownState, type Run, runOf, stateOf } from './times.ts'

/** The whole is checked after a change; what does not go together is refused. */
export const countdownSettings = barSettings('countdown', {
  defaults: defaultCountdown,
  words: countdownWords,
  schema: countdownBar,
  merge(_ctx, before, change: z.infer<typeof countdownInput>) {
    const after = merged(before, change)
    const { countdown } = after
    return { ...after, countdown: { ...countdown, endedText: countdown.endedText || null } }
  },
  check,
  shown(ctx, content) {
    const { state, run } = standing(ctx, content)
    return { countdown: { ...content.countdown, state, ...instantsOf(run) } }
  },
})

const instantsOf = ({ startsAt, endsAt }: Run) => ({
  startsAt: startsAt?.toISOString() ?? null,
  endsAt: endsAt?.toISOString() ?? null,
})

function standing(ctx: Context, content: CountdownContent): { state: CountdownState; run: Run } {
  const { countdown } = content
  const run = runOf(countdown, zoneOf(ctx, content), ctx.now())
  const isOn = content.isEnabled && countdown.isEnabled
  return { run, state: stateOf(countdown, run, isOn, ctx.now()) }
}

const zoneOf = (ctx: Context, { countdown }: CountdownContent): string =>
  countdown.timezone ?? ctx.store.timezone

function check(ctx: Context, after: CountdownContent, before: CountdownContent): void {
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
  const { startsAt, endsAt } = runOf(countdown, zoneOf(ctx, after), ctx.now())
  if (startsAt && endsAt && startsAt >= endsAt) {
    throw refuse('bad_request', 'countdown.startLocal: must be before endLocal')
  }
  if (endsAt && endsAt <= ctx.now() && isEndNew(ctx, before, after)) {
    throw refuse('bad_request', 'countdown.endLocal: is in the past already')
  }
}

/** An end that is over may stay as it is: only what makes it count anew is refused. */
function isEndNew(ctx: Context, before: CountdownContent, after: CountdownContent): boolean {
  const [was, is] = [before.countdown, after.countdown]
  return (
    was.type !== is.type ||
    was.endLocal !== is.endLocal ||
    zoneOf(ctx, before) !== zoneOf(ctx, after) ||
    (!was.isEnabled && is.isEnabled) ||
    (!before.isEnabled && after.isEnabled && is.isEnabled)
  )
}

/** What begins or ends by itself is shown from then on, or no more. */
export async function countdownWidget(ctx: Context): Promise<Widget | null> {
  const content = await countdownSettings.forShoppers(ctx)
  if (!content.isEnabled) return null
  const { isEnabled: _on, countdown, announcements, ...shown } = content
  const { state, run } = standing(ctx, content)
  const until = state === 'scheduled' ? run.startsAt : state === 'running' ? run.endsAt : null
  const told = announcements.filter((each) => each.isEnabled).map(({ text, linkUrl }) => ({ text, linkUrl }))
  const isShown = state === 'running' || (state === 'ended' && countdown.afterEnd === 'text')
  if (!isShown && told.length === 0) return { value: null, until }
  const value = {
    ...shown,
    announcements: told,
    countdown: isShown ? shownCountdown(countdown, run, state) : null,
  }
  return { value, until }
}

function shownCountdown(countdown: CountdownContent['countdown'], run: Run, state: CountdownState) {
  const { type, text, afterEnd, endedText, durationMinutes, restartAfterHours } = countdown
  return {
    ...{ type, state, text, afterEnd, endedText },
    ...instantsOf(run),
    ...(type === 'evergreen' ? { durationMinutes, restartAfterHours } : {}),
  }
}
