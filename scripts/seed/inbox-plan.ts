/** Who wrote what in the demo's inbox: 60 conversations with 610 messages of contacts and the team. No database. */
import type { Random } from './random.ts'
import { dayMs, hourMs, minuteMs, type Timeline } from './timeline.ts'

export type Part = 'text' | 'image' | 'audio' | 'document' | 'location' | 'template' | 'reaction'

export interface PlannedMessage {
  direction: 'inbound' | 'outbound'
  type: Part
  text: string | null
  at: Date
  /** Of the team's that never left. */
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
const questions = [
  'Olá! Meu pedido já saiu?',
  'Tem esse modelo em azul?',
  'Quero trocar o tamanho, ficou pequeno',
  'Qual o prazo para o Rio de Janeiro?',
  'O pagamento foi aprovado?',
  'Vocês têm loja física em São Paulo?',
  'O código de rastreio não funciona',
  'Posso pagar com Pix?',
  'Chegou certinho, obrigada!',
  'A garrafa veio com um risco na tampa',
]
const answers = [
  'Olá! Vou verificar agora mesmo.',
  'Seu pedido saiu hoje cedo, o rastreio chega em instantes.',
  'Temos sim, do P ao GG.',
  'Claro! A troca é gratuita em até 30 dias.',
  'O prazo é de 3 a 5 dias úteis.',
  'O pagamento foi aprovado, obrigada!',
  'Pedimos desculpas, já enviamos outra peça.',
]
const templateText = 'Olá! Podemos ajudar com mais alguma coisa sobre o seu pedido?'

/** `templates`: how many messages of the team are one. */
export function planInbox(timeline: Timeline, random: Random, templates: number): PlannedConversation[] {
  const plans = Array.from({ length: count }, (_, i) => planOne(i, timeline, random))
  give(plans, 'inbound', 24, 'image')
  give(plans, 'inbound', 6, 'audio')
  give(plans, 'inbound', 4, 'document')
  give(plans, 'inbound', 3, 'location')
  give(plans, 'outbound', templates, 'template')
  // The first message of one is a sticker's worth of thanks; the last words of another are STOP.
  const thanks = plans[30]!.messages.find((each) => each.direction === 'inbound' && each.type === 'text')!
  Object.assign(thanks, { type: 'reaction', text: null })
  const stop = plans[count - 1]!.messages.findLast((each) => each.direction === 'inbound')!
  Object.assign(stop, { type: 'text', text: 'STOP' })
  failSome(plans)
  return plans
}

function planOne(i: number, timeline: Timeline, random: Random): PlannedConversation {
  const isOpen = i < 34
  const extra = i < 35 ? 1 : 0
  const unread = i < 7 ? 3 : i < 12 ? 2 : 0
  const isWaiting = i < 9
  const [inbound, outbound] = [5 + extra, 4 + extra]
  // What came last: unanswered messages of those who wait, an answer of all others.
  const trailing = isWaiting ? unread : 0
  const order: ('inbound' | 'outbound')[] = []
  let [ins, outs] = [inbound - trailing, outbound]
  while (ins + outs > 0) {
    if (ins > 0) {
      order.push('inbound')
      ins -= 1
    }
    if (outs > 0) {
      order.push('outbound')
      outs -= 1
    }
  }
  while (ins < trailing) {
    order.push('inbound')
    ins += 1
  }
  const end = endOf(i, timeline, random)
  let at = end.getTime()
  const messages = order.toReversed().map((direction): PlannedMessage => {
    const message = {
      direction,
      type: 'text' as const,
      text: random.pick(direction === 'inbound' ? questions : answers),
      at: new Date(at),
      failure: null,
    }
    at -= Math.round(random.between(4 * minuteMs, 3 * hourMs))
    return message
  })
  messages.reverse()
  if (i === 17) placeLastInbound(messages, new Date(timeline.now.getTime() - dayMs + 20 * minuteMs))
  return {
    isOpen,
    isPinned: i === 2 || i === 14 || i === 28,
    unread,
    isWaiting,
    assignee: i % 9 < 5 && i < 27 ? 'ada' : i % 9 < 8 && i < 27 ? 'marco' : null,
    messages,
  }
}

/** The first 18 wrote within a day; the others up to 60 days ago. */
function endOf(i: number, timeline: Timeline, random: Random): Date {
  if (i < 18) return new Date(timeline.now.getTime() - Math.round(random.between(10 * minuteMs, 8 * hourMs)))
  return timeline.ago(2 + ((i - 18) * 55) / (count - 18) + random.between(0, 0.9))
}

/** Moves all so that the last message of the contact was at that instant. */
function placeLastInbound(messages: PlannedMessage[], at: Date): void {
  const last = messages.findLast((each) => each.direction === 'inbound')!
  const by = at.getTime() - last.at.getTime()
  for (const message of messages) message.at = new Date(message.at.getTime() + by)
}

/** Spread over the conversations, none of them its first or last message. */
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
      message.text = type === 'template' ? templateText : null
      given += 1
    }
  }
}

function failSome(plans: PlannedConversation[]): void {
  const failures = [
    'not-on-network',
    'not-on-network',
    'window-closed',
    'window-closed',
    'window-closed',
  ] as const
  for (const [n, failure] of failures.entries()) {
    const message = plans[40 + n]!.messages.findLast(
      (each) => each.direction === 'outbound' && each.type === 'text',
    )!
    message.failure = failure
  }
}
