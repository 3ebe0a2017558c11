/** The number of this server that merchants talk to. */
import type { Services } from '#runtime/context'
import type { MessagingPort } from '../provider/port.ts'

export interface Assistant {
  port: MessagingPort
  numberId: string
  /** E.164. */
  phone: string
}

/** Null where this server has none. */
export function assistantOf({ adapters }: Pick<Services, 'adapters'>): Assistant | null {
  for (const port of Object.values(adapters.messaging)) {
    if (port.assistant) return { port, ...port.assistant }
  }
  return null
}

export function assistantNumbers(services: Pick<Services, 'adapters'>): ReadonlySet<string> {
  const assistant = assistantOf(services)
  return new Set(assistant ? [assistant.numberId] : [])
}
