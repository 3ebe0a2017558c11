import { optOuts } from '#operations/messaging/door'
import { exportOf } from '#operations/store/door'
import { matching } from '#runtime/database/list'
import { optOutsExport } from '../handles.ts'

export default exportOf(optOutsExport, {
  title: 'Opt-outs',
  description: 'Emails the opted-out phones as CSV',
  rows: (ctx, query: optOuts.OptOutFilters) =>
    matching(optOuts.listed, ctx, query).leftJoin('campaigns as c', 'c.id', 'o.campaign_id'),
  order: optOuts.listed.order,
  columns: {
    phone: 'o.phone',
    source: 'o.source',
    note: 'o.note',
    campaign: 'c.name',
    created_at: 'o.created_at',
  },
})
