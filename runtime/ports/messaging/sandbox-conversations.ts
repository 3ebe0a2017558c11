/** The sandbox's side of conversations: receipts, files that customers send, and what they wrote. */
import { Readable } from 'node:stream'
import { CompiledQuery } from 'kysely'
import type { RootDatabase } from '#db/database'
import { Refused } from '../errors.ts'
import type { ProviderEvent } from '../provider.ts'
import type { ConversationPort } from './conversation-port.ts'

const pageSize = 200

const mp4Box = (name: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length + 8, 0)
  head.write(name, 4, 'ascii')
  return Buffer.concat([head, content])
}

/** The smallest files that are what they say. */
const samples: Readonly<Record<string, Buffer>> = {
  'image/png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  'image/webp': Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64'),
  'audio/amr': Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(10, 0x7c)]),
  'video/mp4': Buffer.concat([
    mp4Box('ftyp', Buffer.from('isom\0\0\u0002\0isomiso2mp41', 'latin1')),
    mp4Box('free', Buffer.alloc(8)),
  ]),
  'application/pdf': Buffer.from(
    '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
  ),
}

interface StoredInbound {
  id: string
  key: string
  kind: string
  occurred_at: Date
  payload: { storeRef: string | null; data: unknown }
}

export function sandboxConversations(db: RootDatabase): ConversationPort {
  return {
    async markRead() {},

    async fetchMedia(_store, { mediaId }) {
      const [, contentType] = /^sandbox-media:([a-z]+\/[a-z0-9.+-]+):/.exec(mediaId) ?? []
      if (!contentType) throw new Refused('media-refused', 'The sandbox has no such file')
      const bytes = samples[contentType] ?? Buffer.from('A file of the sandbox\n')
      const fileName = contentType === 'application/pdf' ? 'document.pdf' : null
      return { stream: Readable.from([bytes]), contentType, size: bytes.length, fileName }
    },

    /** What was written to the store's numbers, as it was called back, oldest first. */
    async history(store, { since, cursor }) {
      const text = `
        select id, key, kind, occurred_at, payload from provider_events
        where store_id = $1 and port = 'messaging' and kind = 'inbound' and provider = 'sandbox'
          and occurred_at >= $2 and ($3::uuid is null or (occurred_at, id) >
            (select e.occurred_at, e.id from provider_events e where e.id = $3::uuid))
        order by occurred_at, id limit ${pageSize}`
      const { rows } = await db.executeQuery<StoredInbound>(
        CompiledQuery.raw(text, [store.id, since, cursor ?? null]),
      )
      const events: ProviderEvent[] = rows.map((row) => ({
        key: row.key,
        kind: row.kind,
        occurredAt: row.occurred_at.toISOString(),
        storeRef: row.payload.storeRef,
        data: row.payload.data,
      }))
      return { supported: true, events, next: rows.length === pageSize ? rows.at(-1)!.id : null }
    },
  }
}
