// The number of products in the shopper's list. A merchant places it in the theme's header.

import { h } from '../../../storefront/script/client/elements.js'
import { useWishes } from './wishes.js'

export default {
  css: ':host { display: inline-block; min-inline-size: 1ch; }',
  view: ({ keep }) => h('span', { part: 'count', role: 'status' }, useWishes(keep).length),
}
