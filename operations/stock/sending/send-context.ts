/** Finds the connection and the template with which alerts are sent to phones. */
import { checkRoute, type sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import type { AlertContent } from '../settings/schema.ts'
import { findTemplateIssue } from '../settings/template.ts'

export interface SendContext {
  connection: sending.Connection
  /** Whether the provider supports idempotency keys. */
  isIdempotent: boolean
  /** The template to send through an official number; null for other connections, which send the text. */
  template: templates.Template | null
}

/** Finds the send context, or returns a sentence that says why nothing can be sent to phones. Calls no provider. */
export async function findSendContext(ctx: Context, settings: AlertContent): Promise<SendContext | string> {
  const route = await checkRoute(ctx)
  if ('code' in route) return route.message
  const { connection, port } = route
  const isIdempotent = port.capabilities.idempotentSend
  if (connection.type !== 'official') return { connection, isIdempotent, template: null }
  const { officialapiTemplateId: id } = settings
  const template = id === null ? null : await templates.get(ctx, id)
  const issue = findTemplateIssue(template)
  return issue ? `The template of stock alerts ${issue}` : { connection, isIdempotent, template }
}
