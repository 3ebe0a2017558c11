/** The server's number for the assistant. */
import type { Services } from '#runtime/context'
import type { MessagingPort } from '../provider/port.ts'

export interface Assistant {
  port: MessagingPort
  numberId: string
  /** E.164. */
  phone: string
}

/** Null if this server has no assistant. */
export function getAssistant({ adapters }: Pick<Services, 'adapters'>): Assistant | null {
  for (const port of Object.values(adapters.messaging)) {
    if (port.assistant) return { port, ...port.assistant }
  }
  return null
}

export function listAssistantNumbers(services: Pick<Services, 'adapters'>): ReadonlySet<string> {
  const assistant = getAssistant(services)
  return new Set(assistant ? [assistant.numberId] : [])
}
