// A button that copies a text. Loaded on demand.

import { h, useState } from './elements.js'

/** Copies the text when clicked, and calls `onCopied`. If the browser refuses, the shopper can select the text by hand. */
export function CopyButton({ text, copyText, copiedText, onCopied, ...props }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      onCopied?.()
    } catch {
      // The browser refused, for example because there is no clipboard without https.
    }
  }
  return h(
    'button',
    { type: 'button', ...props, onClick: copy },
    isCopied ? copiedText : copyText,
    h('span', { class: 'hidden', role: 'status' }, isCopied ? copiedText : ''),
  )
}
