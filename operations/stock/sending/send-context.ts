/** The number and template that alerts are sent with. */
import { checkRoute, type sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import type { AlertContent } from '../settings/schema.ts'
import { findTemplateIssue } from '../settings/template.ts'

/** The connection and template for phones. */
export interface SendContext {
  connection: sending.Connection
  /** Whether the provider deduplicates by key. */
  isIdempotent: boolean
  /** The template of an official number; null: the text is sent. */
  template: templates.Template | null
}

/** Finds the send context of phones, or returns a sentence that says why there is none. Calls no provider. */
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
