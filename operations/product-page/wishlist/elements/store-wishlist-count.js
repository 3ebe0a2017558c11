// How many products the shopper's list has, for a theme's head: placed by hand.

import { h } from '../../../storefront/script/client/elements.js'
import { useWishes } from './wishes.js'

export default {
  css: ':host { display: inline-block; min-inline-size: 1ch; }',
  view: ({ keep }) => h('span', { part: 'count', role: 'status' }, useWishes(keep).length),
}
