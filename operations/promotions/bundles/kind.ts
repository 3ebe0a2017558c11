import { formatDiscountValue } from '#runtime/values/money'
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
  spec(id, revision, { name, startsAt, endsAt, content }, currency) {
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
      value: formatDiscountValue(content.discountType, content.discountValue, currency),
      maxPerOrder: content.maxPerOrder,
    }
  },
  schema: bundle,
  written: recordAvailability,
}
