/** The messaging provider that new connections of this server are made with. */
import type { Context } from '#runtime/context'
import { Unavailable } from '#runtime/ports/errors'
import type { MessagingPort } from '../provider/port.ts'

export interface Provider {
  /** As a connection's row and the hook's address name it. */
  name: string
  port: MessagingPort
}

export const defaultProvider = (ctx: Context): Provider =>
  providerNamed(ctx, ctx.settings.messagingUrl.split(':')[0]!)

/** The adapter of a connection's row; throws where this server has none of that name. */
export function providerNamed(ctx: Context, name: string): Provider {
  const port = Object.hasOwn(ctx.adapters.messaging, name) ? ctx.adapters.messaging[name] : undefined
  if (!port) throw new Error(`This server has no messaging provider ${name}`)
  return { name, port }
}

/** Whether the provider did not answer: what it was asked to do may be asked again. */
export const isSilent = (error: unknown): boolean => error instanceof Unavailable
