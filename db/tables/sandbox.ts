/** Tables that several sandbox providers share: messages, failure modes, objects of the shop. */
import type { Generated } from 'kysely'
import type { Instant, Json, NullableInstant, ServerPlacement } from './columns.ts'

interface SandboxMessagesRow {
  id: string
  store_id: string
  idempotency_key: string
  provider_message_id: string
  calls: Generated<number>
  phone: string
  kind: string
  content: Json
  stage: Generated<number>
  next_event_at: NullableInstant
  sent_at: Instant
}

interface SandboxModesRow {
  store_id: string
  port: string
  mode: string
}

interface SandboxObjectsRow {
  store_id: string
  kind: string
  id: string
  position: Generated<number | null>
  data: Json
  updated_at: Instant
}

export interface SandboxSystemTables {
  sandbox_messages: SandboxMessagesRow
  sandbox_modes: SandboxModesRow
  sandbox_objects: SandboxObjectsRow
}

export const sandboxSystemTables: Record<keyof SandboxSystemTables, ServerPlacement> = {
  sandbox_messages: 'coordinator',
  sandbox_modes: 'coordinator',
  sandbox_objects: 'coordinator',
}
