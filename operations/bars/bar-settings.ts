/** Settings of the banners, one row each. Saving publishes them to the storefront. */
import { markStorefrontChanged } from '#operations/storefront/index'
import { type Nothing, type SettingsSpec, settings } from '#runtime/database/settings'
import type { Change } from '#runtime/values/changes'

type Table = 'bar_settings'
type Given = 'name' | 'table' | 'key' | 'saved'

export const barSettings = <
  Content extends object,
  Input extends object = Change<Content>,
  More extends object = Nothing,
>(
  bar: 'free-shipping' | 'countdown' | 'action',
  spec: Omit<SettingsSpec<Content, Table, Input, never, More>, Given>,
) =>
  settings<Content, Table, Input, never, More>({
    name: `bar:${bar}`,
    table: 'bar_settings',
    key: { bar },
    onSaved: markStorefrontChanged,
    ...spec,
  })
