#!/bin/sh
# The gate of a scenario, under the name of a real tool: TOOL [WORDS] SCENARIO [--only LABEL]
# It complains of the first thing that is missing in the worker's answer, in the words of that tool. `--only` is the
# gate of a part, which asks for one thing. What it needs lies in a folder for each scenario (see gate.py).
# A shell script, since it is started more than a thousand times.
set -u
only='' before='' id=''
for word; do
  case $before:$word in
    --only:*) only=$word ;;
    *:--only) ;;
    *) id=$word ;;
  esac
  before=$word
done
desk=@GATES@/$id
answer=$(cat "work/$id.txt" "work/$id".[0-9].txt 2>/dev/null)
if [ -z "$answer" ]; then # as on main, where it runs before the first attempt: it gives nothing away
  echo "there is no label of $id yet"
  exit 1
fi

complain() { # STEP
  guess=$(printf '%s\n' "$answer" | sed -n 's/ way$//p')
  sed "s/{guess}/${guess:-guess}/g" "$1.red"
  exit "$(cat "$1.code")"
}

for wanted in "$desk"/*.wanted; do
  step=${wanted%.wanted}
  if [ -n "$only" ] && [ "$only" != "$(cat "$step.label")" ]; then continue; fi
  printf '%s\n' "$answer" | grep -qxFf "$wanted" 2>/dev/null || complain "$step"
  if [ -e "$step.patience" ] && [ "$(cat "$step.patience")" != over ]; then
    # Whoever asks too early has to wait anew.
    until=$(cat "$step.patience") now=$(date +%s)
    if [ "$until" -gt 0 ] && [ "$now" -ge "$until" ]; then
      echo over > "$step.patience"
    else
      echo $((now + 2)) > "$step.patience"
      complain "$step"
    fi
  fi
done
cat "$desk/green"
