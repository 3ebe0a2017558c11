/** Notifications of a store, and their readers. */
import type { Generated } from 'kysely'
import type { Instant, NullableJson, StoreColumn } from './columns.ts'

interface NotificationsRow {
  store_id: StoreColumn
  id: string
  type: Generated<string>
  level: Generated<string>
  title: string
  message: string | null
  link: string | null
  data: NullableJson
  source: Generated<string>
  created_by: string | null
  recipient_ids: string[] | null
  dedupe_key: string | null
  created_at: Instant
  updated_at: Instant
}

interface NotificationReadsRow {
  store_id: StoreColumn
  notification_id: string
  user_id: string
  read_at: Instant
}

export interface NotificationTables {
  notifications: NotificationsRow
  notification_reads: NotificationReadsRow
}

export const notificationTables: Record<keyof NotificationTables, 'store_id'> = {
  notifications: 'store_id',
  notification_reads: 'store_id',
}
