import type { MessagingPort } from './port.ts'
export function sandboxMessaging(_options: unknown): MessagingPort {
  return {} as never
}
