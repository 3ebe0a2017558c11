/** The messaging provider that this server uses for new connections. */
import type { Context } from '#runtime/context'
import { Unavailable } from '#runtime/ports/errors'
import type { MessagingPort } from '../provider/port.ts'

export interface Provider {
  /** The name in a connection's row and in the webhook's address. */
  name: string
  port: MessagingPort
}

export const getDefaultProvider = (ctx: Context): Provider =>
  getProvider(ctx, ctx.settings.messagingUrl.split(':')[0]!)

/** The adapter of a connection; throws if this server has none of that name. */
export function getProvider(ctx: Context, name: string): Provider {
  const port = Object.hasOwn(ctx.adapters.messaging, name) ? ctx.adapters.messaging[name] : undefined
  if (!port) throw new Error(`This server has no messaging provider ${name}`)
  return { name, port }
}

/** Whether the provider did not answer, so that the call may be retried. */
export const isUnavailable = (error: unknown): boolean => error instanceof Unavailable
