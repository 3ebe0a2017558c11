import { sql } from 'kysely'
import { isOptedOut, shownPersonId, shownPhone } from '#operations/messaging/index'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { requireRow } from '#runtime/database/rows'
import { contactsExport } from '../../handles.ts'
import { type ContactFilters, contacts } from '../contacts.ts'

export default defineExport(contactsExport, {
  title: 'Contacts',
  description: 'Emails the contacts of a list as CSV',
  rows: (ctx, query: ContactFilters & { listId: string }) => selectMatching(contacts, ctx, query),
  order: contacts.order,
  columns: {
    phone: shownPhone('c.phone'),
    name: 'c.name',
    email: 'c.email',
    source: 'c.source',
    opted_out: (db) => isOptedOut(db, sql.ref('c.phone_key')),
    created_at: 'c.created_at',
  },
  more: {
    in: 'c.custom_fields',
    as: 'customFields',
    async names(ctx, { listId }) {
      const lists = ctx.db.selectFrom('contact_lists').select('custom_field_names')
      const list = await requireRow(lists, listId, 'The list was deleted meanwhile')
      return list.custom_field_names
    },
  },
  last: { whatsapp_user_id: shownPersonId('c.phone') },
})
