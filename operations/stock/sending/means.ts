/** The number and template that alerts are sent with. */
import { checkRoute, type sending, templates } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { AlertContent } from '../settings/schema.ts'
import { templateFault } from '../settings/template.ts'

/** How phones are reached. */
export interface Way {
  connection: sending.Connection
  /** Whether the provider knows a key again. */
  isIdempotent: boolean
  /** Of an official number; null: the text leaves. */
  template: templates.Template | null
}

/** The way of phones, or a sentence why there is none. Asks no provider. */
export async function findWay(ctx: Context, settings: AlertContent): Promise<Way | string> {
  const route = await checkRoute(ctx)
  if ('code' in route) return route.message
  const { connection, port } = route
  const isIdempotent = port.capabilities.idempotentSend
  if (connection.type !== 'official') return { connection, isIdempotent, template: null }
  const { officialapiTemplateId: id } = settings
  const template = id === null ? null : await templates.get(ctx, id)
  const fault = templateFault(template)
  return fault ? `The template of stock alerts ${fault}` : { connection, isIdempotent, template }
}
