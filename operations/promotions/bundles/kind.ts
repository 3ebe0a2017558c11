import { amountText } from '#runtime/values/money'
import { type Kind, referenceOf } from '../discounts/kinds.ts'
import { noteAvailability } from './availability.ts'
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
      reference: referenceOf('bundle', id),
      revision,
      title: name,
      startsAt,
      endsAt,
      combinesWith: content.combinesWith,
      items: content.items,
      discountType: content.discountType,
      value: amountText(content.discountValue),
      maxPerOrder: content.maxPerOrder,
    }
  },
  schema: bundle,
  written: noteAvailability,
}
