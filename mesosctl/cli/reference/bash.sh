
# Names of a kind that mesosctl keeps, added to candidates; it is asked only where they are too old.
_PROGRAM_names() {
    local kind=$1 folder=${XDG_CACHE_HOME:-} where=default from=$master name until=0 now
    local -a found=()
    if [[ $folder != /* ]]; then folder=$HOME/.cache; fi
    if [[ -n $from ]]; then
        if [[ $from == *//*@* ]]; then from=${from%%//*}//${from##*@}; fi
        where=master-${from//[^A-Za-z0-9._-]/_}
    elif [[ -n $context ]]; then
        where=context-$context
    fi
    folder=$folder/mesosctl/names/$where/$kind
    if [[ $kind == context ]]; then folder=${folder%/*/*}/context; fi
    if [[ -r $folder ]]; then
        { IFS= read -r until; while IFS= read -r name; do found+=("$name"); done; } <"$folder"
    fi
    now=${EPOCHSECONDS:-$(date +%s)}
    if ! [[ $until =~ ^[0-9]{1,12}$ ]] || ((until < now)); then
        found=()
        while IFS= read -r name; do found+=("$name"); done \
            < <(command PROGRAM complete "$kind" ${along[@]+"${along[@]}"} </dev/null 2>/dev/null)
    fi
    candidates+=(${found[@]+"${found[@]}"})
}

_PROGRAM() {
    local -a words=() commands=() options=() places=() choices=() candidates=() along=()
    local path=PROGRAM word glued= skip= current raw prefix= value option= kinds= kind quoted cut
    local master=${MESOSCTL_MASTER:-} context=${MESOSCTL_CONTEXT:-}
    local -i i count=0 last
    COMPREPLY=()
    # bash makes several words of --output=json and of http://host:5050
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 1 && ( -n $glued || $word =~ ^[:=]+$ ) ]]; then
            words[${#words[@]}-1]+=$word
            if [[ $word =~ ^[:=]+$ ]]; then glued=1; else glued=; fi
        else
            words+=("$word")
            glued=
        fi
    done
    last=${#words[@]}-1
    current=${words[last]}
    raw=${COMP_WORDS[COMP_CWORD]}
    if [[ $raw =~ ^[:=]+$ ]]; then raw=; fi
    cut=${current%"$raw"}
    for ((i = 1; i < last; i++)); do
        word=${words[i]//[\'\"]/}
        word=${word/#\~\//$HOME/}
        if [[ $word == --*=* ]] && _PROGRAM_takes_value "${word%%=*}"; then
            skip=${word%%=*}
            word=${word#*=}
        elif [[ -z $skip ]]; then
            if _PROGRAM_takes_value "$word"; then
                skip=$word
            elif [[ $word == -* ]]; then
                :
            elif ((count == 0)) && _PROGRAM_is_command "$path $word"; then
                path="$path $word"
            else
                count+=1
            fi
            continue
        fi
        if _PROGRAM_goes_along "$skip"; then along+=("$skip" "$word"); fi
        case "$skip" in
            --master) master=$word ;;
            --context) context=$word ;;
        esac
        skip=
    done
    option=$skip
    value=$current
    if [[ $current == --*=* ]]; then
        option=${current%%=*}
        prefix=$option=
        value=${current#*=}
    fi
    if [[ -n $option ]]; then
        _PROGRAM_after_option "$option"
        candidates=(${choices[@]+"${choices[@]}"})
    else
        _PROGRAM_at "$path"
        candidates=(${commands[@]+"${commands[@]}"})
        for ((i = 0; i < ${#places[@]}; i++)); do
            if ((i == count)) || [[ $i -lt $count && ${places[i]} == *'*' ]]; then kinds=${places[i]%\*}; fi
        done
        if [[ $value == -* || ( ${#candidates[@]} -eq 0 && ( -z $kinds || $kinds == - ) ) ]]; then
            candidates=("${options[@]}")
            kinds=
        fi
    fi
    for kind in ${kinds//,/ }; do
        case "$kind" in
            file)
                compopt -o filenames 2>/dev/null || :
                while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$value")
                ;;
            -) ;;
            =*) candidates+=("${kind#=}") ;;
            *) _PROGRAM_names "$kind" ;;
        esac
    done
    for word in ${candidates[@]+"${candidates[@]}"}; do
        if [[ $word == "$value"* ]]; then
            printf -v quoted %q "$word"
            word=$prefix$quoted
            COMPREPLY+=("${word#"$cut"}")
            if [[ $word == *[:=/] ]]; then compopt -o nospace 2>/dev/null || :; fi
        fi
    done
}

complete -F _PROGRAM PROGRAM
