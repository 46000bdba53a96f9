/** Write cents as an amount of the currency. */
export function show(cents, currency = process.env.CURRENCY ?? 'EUR') {
  const sign = cents < 0 ? '-' : '';
  const whole = Math.abs(cents);
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')} ${currency}`;
}
