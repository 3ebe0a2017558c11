/** Plans the demo's inbox: 60 conversations with 610 messages of contacts and the team. No database. */
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import texts from './data/texts.json' with { type: 'json' }
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

type Part = 'text' | 'image' | 'audio' | 'document' | 'location' | 'template' | 'reaction'

export interface PlannedMessage {
  direction: 'inbound' | 'outbound'
  type: Part
  text: string | null
  at: Date
  /** For messages of the team that were not sent. */
  failure: 'not-on-network' | 'window-closed' | null
}

export interface PlannedConversation {
  isOpen: boolean
  isPinned: boolean
  unread: number
  isWaiting: boolean
  assignee: 'ada' | 'marco' | null
  /** Oldest first. */
  messages: PlannedMessage[]
}

const count = 60

/** `templates`: the number of template messages by the team. */
export function planInbox(timeline: Timeline, random: Random, templates: number): PlannedConversation[] {
  const plans = Array.from({ length: count }, (_, i) => planOne(i, timeline, random))
  give(plans, 'inbound', 24, 'image')
  give(plans, 'inbound', 6, 'audio')
  give(plans, 'inbound', 4, 'document')
  give(plans, 'inbound', 3, 'location')
  give(plans, 'outbound', templates, 'template')
  const isText = ({ type }: PlannedMessage): boolean => type === 'text'
  const [inbound, outbound] = (['inbound', 'outbound'] as const).map(
    (direction) => (each: PlannedMessage) => each.direction === direction,
  ) as [typeof isText, typeof isText]
  // The first message of one is a short thanks; the last words of another are STOP.
  Object.assign(plans[30]!.messages.find((each) => inbound(each) && isText(each))!, {
    type: 'reaction',
    text: null,
  })
  Object.assign(plans[count - 1]!.messages.findLast(inbound)!, { type: 'text', text: 'STOP' })
  for (let n = 0; n < 5; n += 1) {
    const message = plans[40 + n]!.messages.findLast((each) => outbound(each) && isText(each))!
    message.failure = n < 2 ? 'not-on-network' : 'window-closed'
  }
  return plans
}

function planOne(i: number, timeline: Timeline, random: Random): PlannedConversation {
  const extra = i < 35 ? 1 : 0
  const unread = i < 7 ? 3 : i < 12 ? 2 : 0
  const isWaiting = i < 9
  // The last messages: unanswered ones of waiting contacts, an answer in all others.
  const trailing = isWaiting ? unread : 0
  const [asked, answered] = [5 + extra - trailing, 4 + extra]
  const turns = Array.from({ length: Math.max(asked, answered) }, (_, n) => [
    ...(n < asked ? (['inbound'] as const) : []),
    ...(n < answered ? (['outbound'] as const) : []),
  ]).flat()
  const directions = [...turns, ...Array<'inbound'>(trailing).fill('inbound')]
  // The first 18 wrote within a day; the others up to 60 days ago.
  const end =
    i < 18
      ? timeline.now.getTime() - Math.round(random.between(10 * minuteMs, 8 * hourMs))
      : timeline.ago(2 + ((i - 18) * 55) / (count - 18) + random.between(0, 0.9)).getTime()
  let at = end
  const messages = directions.toReversed().map((direction): PlannedMessage => {
    const text = random.pick(direction === 'inbound' ? texts.inbox.questions : texts.inbox.answers)
    const message = { direction, type: 'text' as const, text, at: new Date(at), failure: null }
    at -= Math.round(random.between(4 * minuteMs, 3 * hourMs))
    return message
  })
  messages.reverse()
  // One contact's last message is twenty minutes less than a day old: its window closes soon.
  if (i === 17) {
    const last = messages.findLast((each) => each.direction === 'inbound')!
    const by = timeline.now.getTime() - dayMs + 20 * minuteMs - last.at.getTime()
    for (const message of messages) message.at = new Date(message.at.getTime() + by)
  }
  return {
    isOpen: i < 34,
    isPinned: i === 2 || i === 14 || i === 28,
    unread,
    isWaiting,
    assignee: i >= 27 || i % 9 === 8 ? null : i % 9 < 5 ? 'ada' : 'marco',
    messages,
  }
}

/** Spreads types over the conversations, excluding first and last messages. */
function give(
  plans: PlannedConversation[],
  direction: PlannedMessage['direction'],
  atMost: number,
  type: Part,
): void {
  let given = 0
  for (let round = 1; given < atMost; round += 1) {
    for (const { messages } of plans) {
      const message = messages.slice(1, -1).filter((each) => each.direction === direction)[round]
      if (given === atMost || message?.type !== 'text') continue
      message.type = type
      message.text = type === 'template' ? texts.inbox.template : null
      given += 1
    }
  }
}
