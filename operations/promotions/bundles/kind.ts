import { formatAmount } from '#runtime/values/money'
import { buildReference, type Kind } from '../discounts/kinds.ts'
import { recordAvailability } from './availability.ts'
import { type BundleContent, bundle } from './schema.ts'

export const bundles: Kind<BundleContent> = {
  name: 'bundle',
  noun: 'bundle',
  feature: 'bundles',
  path: '/bundles',
  portKind: 'bundle',
  liveAtMost: 100,
  atMost: 500,
  spec(id, revision, { name, startsAt, endsAt, content }) {
    return {
      kind: 'bundle',
      reference: buildReference('bundle', id),
      revision,
      title: name,
      startsAt,
      endsAt,
      combinesWith: content.combinesWith,
      items: content.items,
      discountType: content.discountType,
      value: formatAmount(content.discountValue),
      maxPerOrder: content.maxPerOrder,
    }
  },
  schema: bundle,
  written: recordAvailability,
}
