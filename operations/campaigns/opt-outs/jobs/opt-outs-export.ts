import { optOuts } from '#operations/messaging/index'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { optOutsExport } from '../handles.ts'

export default defineExport(optOutsExport, {
  title: 'Opt-outs',
  description: 'Emails the opted-out phones as CSV',
  rows: (ctx, query: optOuts.OptOutFilters) =>
    selectMatching(optOuts.optOutList, ctx, query).leftJoin('campaigns as c', 'c.id', 'o.campaign_id'),
  order: optOuts.optOutList.order,
  columns: {
    phone: 'o.phone',
    source: 'o.source',
    note: 'o.note',
    campaign: 'c.name',
    created_at: 'o.created_at',
  },
})
